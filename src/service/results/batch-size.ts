/** Maximum number of rows that one batch of the results consumer reads. */
export interface BatchLimits {
  userChanges: number;
  bannerEvents: number;
  /** Maximum number of events and purchases that are conversions. */
  goalCandidates: number;
  /** Maximum number of events and purchases that are counted and scanned for conversions. */
  scannedEvents: number;
}

export const MAX_BATCH: BatchLimits = {
  userChanges: 100,
  bannerEvents: 800,
  goalCandidates: 400,
  scannedEvents: 10_000,
};

/** Maximum duration of a batch, because writes wait for it on SQLite and on a cluster. */
const MAX_BATCH_MS = 40;

/** Minimum share of the largest batch. Smaller batches are hardly faster, because each has a commit. */
const MIN_SHARE = 1 / 4;

/** Creates a sizer that adapts batches to their duration. `first` and `min` are shares of the largest batch. */
export const createBatchSizer = ({ first = 1, min = MIN_SHARE } = {}) => {
  let share = first;
  return {
    /** Returns the size of the next batch, as a share of the largest batch. */
    share: () => share,
    limits(): BatchLimits {
      const { userChanges, bannerEvents, goalCandidates, scannedEvents } = MAX_BATCH;
      return {
        userChanges: Math.ceil(userChanges * share),
        bannerEvents: Math.ceil(bannerEvents * share),
        goalCandidates: Math.ceil(goalCandidates * share),
        scannedEvents: Math.ceil(scannedEvents * share),
      };
    },
    /** Adapts the size to the time for which a batch held the thread or the lock. */
    report(ms: number): void {
      if (ms > MAX_BATCH_MS) share = Math.max(min, share / 2);
      else if (ms < MAX_BATCH_MS / 3) share = Math.min(1, share * 2);
    },
  };
};
