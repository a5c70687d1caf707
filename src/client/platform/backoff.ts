const BASE_MS = 1_000;
const CAP_MS = 5 * 60_000;
/** The minimum wait, as a share of the ceiling. Without it, several short waits in a row would be a burst of requests. */
const MIN_SHARE = 0.1;

/**
 * How long to wait after `failures` refusals in a row (1 or more), in milliseconds. The ceiling doubles with each refusal, and
 * jitter covers nearly all of it, so that browsers that failed together do not retry together. In the long run that makes
 * about 22 requests an hour, at most 120, and one more each time the network or the user is back.
 */
export const backoffMs = (failures: number, random: () => number): number => {
  const ceiling = Math.min(CAP_MS, BASE_MS * 2 ** Math.min(failures, 20));
  return Math.round(ceiling * (MIN_SHARE + (1 - MIN_SHARE) * random()));
};
