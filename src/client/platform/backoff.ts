const BASE_MS = 1_000;
const CAP_MS = 5 * 60_000;
/** The shortest wait, as a part of the ceiling: with full jitter several short waits in a row would be a burst of requests. */
const MIN_SHARE = 0.1;

/**
 * How long to wait after `failures` refusals in a row (1 or more), in milliseconds: jitter over nearly the whole of a
 * doubling ceiling, so that browsers that failed together do not come back together. About 22 requests an hour in the
 * long run, 120 at the very most, and one more for each sign that the network or the user is back.
 */
export const backoffMs = (failures: number, random: () => number): number => {
  const ceiling = Math.min(CAP_MS, BASE_MS * 2 ** Math.min(failures, 20));
  return Math.round(ceiling * (MIN_SHARE + (1 - MIN_SHARE) * random()));
};
