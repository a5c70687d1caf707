/** Where a replica takes over what is for its users, from the other replicas alone: a POST of an array of tracks. */
export const HAND_OVER_PATH = '/replicas/tracks';

/** The answer: which tracks, by their place, could not be stored; all others are durable. */
export interface Outcome {
  failed: number[];
  /** Those of them that may be stored nevertheless, and those that were not begun because others waited. */
  inDoubt?: number[];
  notNow?: number[];
}

/** The answer of one that is about to end, with 503: it has begun nothing. */
export const REFUSED = '{"taken":false}';
