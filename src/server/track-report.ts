import { INPUT_ARRAYS, type InputArray, isInputArray } from '../protocol/index.ts';
import { usersTrackSuccess } from '../protocol/schemas/index.ts';
import type { TrackBatch } from './track-batches.ts';
import type { TrackPosition, TrackProblem } from './track-problem.ts';

/** Result of a `track` call. */
export interface TrackReport {
  /** Number of accepted objects, by array. */
  processed: Record<InputArray, number>;
  problems: TrackProblem[];
  /** Objects without a response, which the API may have stored. Resending events and purchases may create duplicates. */
  inDoubt: TrackPosition[];
  /** Number of requests that got a response or are in doubt. */
  requests: number;
  /** Next index of each array. Objects from this index on were not sent. */
  consumed: Record<InputArray, number>;
}

/** Error thrown if sending stopped before the end of the input. */
export class TrackStoppedError extends Error {
  override readonly name = 'TrackStoppedError';
  readonly report: TrackReport;
  /** Objects read from the input that the API did not store. */
  readonly unsent: TrackPosition[];

  constructor(cause: unknown, report: TrackReport, unsent: TrackPosition[]) {
    super(`Tracking stopped: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.report = report;
    this.unsent = unsent;
  }
}

export const emptyReport = (): TrackReport => ({
  processed: { attributes: 0, events: 0, purchases: 0 },
  problems: [],
  inDoubt: [],
  requests: 0,
  consumed: { attributes: 0, events: 0, purchases: 0 },
});

const formatReason = (entry: unknown): string => {
  if (typeof entry === 'string') return entry;
  const { type }: { type?: unknown } = Object(entry);
  return typeof type === 'string' ? type : JSON.stringify(entry);
};

const findPosition = (entry: unknown, batch: TrackBatch): TrackPosition | null => {
  const { input_array, index }: { input_array?: unknown; index?: unknown } = Object(entry);
  if (!isInputArray(input_array) || typeof index !== 'number') return null;
  return batch.positions[input_array][index] ?? null;
};

export const toProblems = (errors: unknown[], batch: TrackBatch): TrackProblem[] =>
  errors.map((entry) => ({ position: findPosition(entry, batch), reason: formatReason(entry) }));

/** Returns a problem for every object of a rejected batch, with the object's own error if the response has one. */
export const rejectBatch = (errors: unknown[], message: string, batch: TrackBatch): TrackProblem[] => {
  const named = toProblems(errors, batch).filter(({ position }) => position !== null);
  const isNamed = ({ array, index }: TrackPosition) =>
    named.some(({ position }) => position?.array === array && position.index === index);
  const rest = listPositions(batch).filter((position) => !isNamed(position));
  return [...named, ...rest.map((position) => ({ position, reason: message }))];
};

export const listPositions = (batch: TrackBatch): TrackPosition[] =>
  INPUT_ARRAYS.flatMap((array) => batch.positions[array]);

/** Adds the counts of a 2xx to the report and returns its errors. If a count is missing, objects without an error count as accepted. */
export const readTrackResponse = (body: unknown, batch: TrackBatch, report: TrackReport): TrackProblem[] => {
  const { success, data } = usersTrackSuccess.safeParse(body);
  if (!success) return rejectBatch([], 'response without a message', batch);
  if (data.message !== 'success' && data.message !== 'queued') return rejectBatch([], data.message, batch);
  const problems = toProblems([data.errors ?? []].flat(), batch);
  for (const array of INPUT_ARRAYS) {
    const named = new Set(
      problems.flatMap(({ position }) => (position?.array === array ? [position.index] : [])),
    );
    report.processed[array] += data[`${array}_processed`] ?? batch.positions[array].length - named.size;
  }
  return problems;
};
