import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../protocol/index.ts';

/** Delays after consecutive failures, in milliseconds. The last delay repeats. */
export const RETRY_DELAYS_MS = [
  5 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
];
const JITTER = 0.2;
const LONGEST_MS = RETRY_DELAYS_MS.at(-1)!;
/** Maximum return value of `retryDelayMs`. */
export const LONGEST_DELAY_MS = LONGEST_MS * (1 + JITTER);
/** Time of failures after which a webhook is disabled, in milliseconds. */
export const DISABLE_AFTER_MS = 5 * DAY_MS;

/** Returns the delay before the next attempt, with up to 20% jitter. `Retry-After` can only extend it, up to an hour. */
export const retryDelayMs = (
  failures: number,
  retryAfterMs: number | null,
  random: () => number = Math.random,
): number => {
  const delay = RETRY_DELAYS_MS[Math.min(failures, RETRY_DELAYS_MS.length) - 1] ?? 0;
  const jittered = delay * (1 + random() * JITTER);
  return Math.max(jittered, Math.min(retryAfterMs ?? 0, LONGEST_MS));
};
