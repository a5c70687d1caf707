import type { InputArray } from '../protocol/index.ts';

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
