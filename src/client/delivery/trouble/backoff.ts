import type { Pause, PauseCause } from '../../platform/pauses.ts';
import type { SharedFunctions } from './shared-functions.ts';

const BASE_MS = 1_000;
const CAP_MS = 5 * 60_000;
/** Minimum delay, as a share of the ceiling. Without it, several short delays in a row would be a burst. */
const MIN_SHARE = 0.1;

/**
 * Returns the delay after `failures` failures in a row (1 or more), in milliseconds. The ceiling doubles with each failure,
 * and jitter covers nearly all of it, so that browsers that failed together do not retry together. In the long run this makes
 * about 22 requests an hour, at most 120, plus one each time the network or the user is back.
 */
const backoffMs = (failures: number, random: () => number): number => {
  const ceiling = Math.min(CAP_MS, BASE_MS * 2 ** Math.min(failures, 20));
  return Math.round(ceiling * (MIN_SHARE + (1 - MIN_SHARE) * random()));
};

/** Returns the pause after a failure; `before` is the current pause. If the two overlap, the longer one applies. */
export const extendPause = (
  { isPaused }: Pick<SharedFunctions, 'isPaused'>,
  before: Pause,
  { reason, requestedMs = 0, isNewNetwork }: PauseCause,
  now: number,
  random: () => number,
): Pause => {
  const isConcurrent = isPaused(before, now);
  const failures = isNewNetwork ? 1 : before.failures + Number(!isConcurrent);
  const isServerTime = reason === 'rate-limit' && requestedMs > 0;
  // A server that is down may request a shorter pause than the backoff.
  const ms = isServerTime ? requestedMs : Math.max(requestedMs, backoffMs(failures, random));
  const isRejected = requestedMs > 0 || (reason !== 'backoff' && reason !== 'offline');
  const isServerMandated = isRejected || (isConcurrent && before.isServerMandated);
  const isLonger = !isConcurrent || now + ms > before.until;
  return isLonger
    ? { until: now + ms, reason, failures, isServerMandated }
    : { ...before, failures, isServerMandated };
};
