import { INPUT_ARRAYS, isRecord, type UsersTrackAnswer } from '../../protocol/index.ts';
import { HttpError } from '../http-error.ts';
import type { RouteMetrics } from '../route.ts';

const recordErrors = (metrics: RouteMetrics, errors: unknown) => {
  if (!Array.isArray(errors)) return;
  for (const entry of errors) {
    // A text with a name from the wire in it is not a code: as a label it would have endless values.
    if (isRecord(entry)) metrics.error(codeOf(String(entry['type'])));
  }
};

const codeOf = (type: string): string => {
  if (type.startsWith("Invalid nested custom attribute '")) return 'INVALID_NESTED_CUSTOM_ATTRIBUTE';
  const named = /^'.*' is (not valid|required)$/s.exec(type);
  if (named) return named[1] === 'required' ? 'REQUIRED' : 'NOT_VALID';
  return type;
};

/** Counts what was accepted and what was refused, whether the answer is one or a refusal. */
export const recordTrack = async (
  metrics: RouteMetrics,
  work: Promise<UsersTrackAnswer>,
): Promise<UsersTrackAnswer> => {
  try {
    const answer = await work;
    for (const name of INPUT_ARRAYS) {
      const count = answer[`${name}_processed`];
      if (count !== undefined) metrics.objects(name, count);
    }
    recordErrors(metrics, answer.errors);
    return answer;
  } catch (error) {
    if (error instanceof HttpError) recordErrors(metrics, error.members?.['errors']);
    throw error;
  }
};
