/** Maximum number of rows that one step of the results consumer reads. */
export interface StepLimits {
  userChanges: number;
  bannerEvents: number;
  /** Events and purchases that are conversions. */
  conversionEvents: number;
  /** Events and purchases that are counted and scanned for conversions. */
  scannedEvents: number;
}

export const STEP: StepLimits = {
  userChanges: 100,
  bannerEvents: 400,
  conversionEvents: 400,
  scannedEvents: 10_000,
};

/** Writes wait for a step on SQLite and on a cluster. */
const MAX_STEP_MS = 40;

/** Not in Node 22. */
const cpuUsage = (): NodeJS.CpuUsage | null => process.threadCpuUsage?.() ?? null;

/**
 * Starts measuring the CPU time of this thread in milliseconds. Elapsed time would make steps smallest on a busy machine, on which
 * each takes longest. Measures elapsed time on Node 22.
 */
export const startTimer = (): (() => number) => {
  const [before, started] = [cpuUsage(), performance.now()];
  return () => {
    const after = cpuUsage();
    if (before === null || after === null) return performance.now() - started;
    return (after.user - before.user + after.system - before.system) / 1000;
  };
};
/** Smaller steps are hardly faster, because each has a commit. */
const MIN_SHARE = 1 / 4;

/** Adapts the size of steps to their duration. `first` and `min` are shares of the largest step. */
export const createPace = ({ first = 1, min = MIN_SHARE } = {}) => {
  let share = first;
  return {
    /** Size of the next step, as a share of the largest one. */
    share: () => share,
    limits(): StepLimits {
      const { userChanges, bannerEvents, conversionEvents, scannedEvents } = STEP;
      return {
        userChanges: Math.ceil(userChanges * share),
        bannerEvents: Math.ceil(bannerEvents * share),
        conversionEvents: Math.ceil(conversionEvents * share),
        scannedEvents: Math.ceil(scannedEvents * share),
      };
    },
    /** Reports how long a step held the thread or the lock. */
    report(ms: number): void {
      if (ms > MAX_STEP_MS) share = Math.max(min, share / 2);
      else if (ms < MAX_STEP_MS / 3) share = Math.min(1, share * 2);
    },
  };
};
