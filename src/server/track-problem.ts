import type { InputArray } from '../protocol/index.ts';

/** Position of an object in the input of the caller. */
export interface TrackPosition {
  array: InputArray;
  /** Zero-based. */
  index: number;
}

/** Error of an object, or of a part of it. The other parts were applied. */
export interface TrackProblem {
  /** `null` if the API specified no object. */
  position: TrackPosition | null;
  /** Error code or message of the API, such as `EMAIL_BAD_FORMAT`. */
  reason: string;
}
