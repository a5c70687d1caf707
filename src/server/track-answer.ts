import { INPUT_ARRAYS, type InputArray } from '../protocol/index.ts';
import { usersTrackSuccess } from '../protocol/schemas/index.ts';
import type { TrackBatch } from './track-batches.ts';
import type { TrackPlace, TrackProblem, TrackReport } from './track-report.ts';

const textOf = (entry: unknown): string => {
  if (typeof entry === 'string') return entry;
  const type = (entry as { type?: unknown } | null)?.type;
  return typeof type === 'string' ? type : JSON.stringify(entry);
};

const isInputArray = (value: unknown): value is InputArray => INPUT_ARRAYS.includes(value as InputArray);

/** Where the caller has the object that an entry of `errors` names, or `null`. */
const placeOf = (entry: unknown, batch: TrackBatch): TrackPlace | null => {
  const { input_array, index } = (entry ?? {}) as { input_array?: unknown; index?: unknown };
  if (!isInputArray(input_array) || typeof index !== 'number') return null;
  return batch.places[input_array][index] ?? null;
};

/** Each entry of an answer's `errors`, at the caller's own index. */
export const problemsOf = (errors: unknown[], batch: TrackBatch): TrackProblem[] =>
  errors.map((entry) => ({ place: placeOf(entry, batch), reason: textOf(entry) }));

/** Every object of a batch that was refused whole: with what was said of it, else with the refusal's own text. */
export const refusedBatch = (errors: unknown[], message: string, batch: TrackBatch): TrackProblem[] => {
  const named = problemsOf(errors, batch).filter(({ place }) => place !== null);
  const isNamed = ({ array, index }: TrackPlace) =>
    named.some(({ place }) => place?.array === array && place.index === index);
  const rest = placesOf(batch).filter((place) => !isNamed(place));
  return [...named, ...rest.map((place) => ({ place, reason: message }))];
};

export const placesOf = (batch: TrackBatch): TrackPlace[] =>
  INPUT_ARRAYS.flatMap((array) => batch.places[array]);

/**
 * Adds what a 2xx says to the report; answers why it is no success, or `undefined`. A count that is missing is unknown
 * to the contract: then what no error names has been taken.
 */
export const readAnswer = (body: unknown, batch: TrackBatch, report: TrackReport): string | undefined => {
  const { success, data } = usersTrackSuccess.safeParse(body);
  if (!success) return 'an answer without a message';
  if (data.message !== 'success' && data.message !== 'queued') return data.message;
  const problems = problemsOf([data.errors ?? []].flat(), batch);
  report.problems.push(...problems);
  for (const array of INPUT_ARRAYS) {
    const named = new Set(problems.flatMap(({ place }) => (place?.array === array ? [place.index] : [])));
    report.processed[array] += data[`${array}_processed`] ?? batch.places[array].length - named.size;
  }
  return undefined;
};
