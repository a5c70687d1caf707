import { INPUT_ARRAYS, type InputArray, isInputArray } from '../protocol/index.ts';
import { usersTrackSuccess } from '../protocol/schemas/index.ts';
import type { TrackBatch } from './track-batches.ts';

/** An object's position in the caller's own input. */
export interface TrackPosition {
  array: InputArray;
  /** Zero-based, in the array or iterable that was passed in. */
  index: number;
}

/** What was wrong with an object, or with part of it (the rest of it was applied then). */
export interface TrackProblem {
  /** `null` where the service did not say which object it meant. */
  position: TrackPosition | null;
  /** The service's code or text, such as `EMAIL_BAD_FORMAT`. */
  reason: string;
}

/** What became of the objects of a `track` call. */
export interface TrackReport {
  /** Objects the service has accepted. */
  processed: Record<InputArray, number>;
  problems: TrackProblem[];
  /**
   * Objects whose request got no readable answer: the service may have taken them. Sending events and purchases again
   * may count them twice, so that is the caller's to decide.
   */
  inDoubt: TrackPosition[];
  /** Requests that were answered or are in doubt. */
  requests: number;
  /** The index after the last object of each array that was taken in hand: from there on nothing was sent. */
  consumed: Record<InputArray, number>;
}

/** Sending stopped before the end of the input. `cause` is why, `report` what had happened by then. */
export class TrackStoppedError extends Error {
  override readonly name = 'TrackStoppedError';
  readonly report: TrackReport;
  /** Taken in hand and not applied: they never left, or the last answer to them said that nothing was taken. */
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

const textOf = (entry: unknown): string => {
  if (typeof entry === 'string') return entry;
  const type = (entry as { type?: unknown } | null)?.type;
  return typeof type === 'string' ? type : JSON.stringify(entry);
};

/** Where the caller has the object that an entry of `errors` names, or `null`. */
const positionOf = (entry: unknown, batch: TrackBatch): TrackPosition | null => {
  const { input_array, index } = (entry ?? {}) as { input_array?: unknown; index?: unknown };
  if (!isInputArray(input_array) || typeof index !== 'number') return null;
  return batch.positions[input_array][index] ?? null;
};

/** Each entry of an answer's `errors`, at the caller's own index. */
export const problemsOf = (errors: unknown[], batch: TrackBatch): TrackProblem[] =>
  errors.map((entry) => ({ position: positionOf(entry, batch), reason: textOf(entry) }));

/** Every object of a batch that was refused whole: with what was said of it, else with the refusal's own text. */
export const refusedBatch = (errors: unknown[], message: string, batch: TrackBatch): TrackProblem[] => {
  const named = problemsOf(errors, batch).filter(({ position }) => position !== null);
  const isNamed = ({ array, index }: TrackPosition) =>
    named.some(({ position }) => position?.array === array && position.index === index);
  const rest = positionsOf(batch).filter((position) => !isNamed(position));
  return [...named, ...rest.map((position) => ({ position, reason: message }))];
};

export const positionsOf = (batch: TrackBatch): TrackPosition[] =>
  INPUT_ARRAYS.flatMap((array) => batch.positions[array]);

/**
 * Adds what a 2xx counts to the report, and returns its problems: of every object where it is no success. A count that is
 * missing is unknown to the contract: then what no error names has been taken.
 */
export const readAnswer = (body: unknown, batch: TrackBatch, report: TrackReport): TrackProblem[] => {
  const { success, data } = usersTrackSuccess.safeParse(body);
  if (!success) return refusedBatch([], 'an answer without a message', batch);
  if (data.message !== 'success' && data.message !== 'queued') return refusedBatch([], data.message, batch);
  const problems = problemsOf([data.errors ?? []].flat(), batch);
  for (const array of INPUT_ARRAYS) {
    const named = new Set(
      problems.flatMap(({ position }) => (position?.array === array ? [position.index] : [])),
    );
    report.processed[array] += data[`${array}_processed`] ?? batch.positions[array].length - named.size;
  }
  return problems;
};
