const BASE_MS = 1_000;
const CAP_MS = 5 * 60_000;

/**
 * How long to wait after `failures` refusals in a row (1 or more), in milliseconds: full jitter, so that browsers that
 * failed together do not come back together, and never under a second. About 24 requests an hour in the long run.
 */
export const backoffMs = (failures: number, random: () => number): number =>
  Math.max(BASE_MS, Math.round(random() * Math.min(CAP_MS, BASE_MS * 2 ** Math.min(failures, 20))));
