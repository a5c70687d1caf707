const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Delay after each consecutive failure; the last one repeats. */
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
/** A webhook that fails for this long is disabled. */
export const DISABLE_AFTER_MS = 5 * 24 * HOUR_MS;

/** Returns the delay before the next attempt, with up to 20% of jitter. `Retry-After` can only make it longer, up to an hour. */
export const retryDelayMs = (
  failures: number,
  retryAfterMs: number | null,
  random: () => number = Math.random,
): number => {
  const delay = RETRY_DELAYS_MS[Math.min(failures, RETRY_DELAYS_MS.length) - 1] ?? 0;
  const jittered = delay * (1 + random() * JITTER);
  return Math.max(jittered, Math.min(retryAfterMs ?? 0, LONGEST_MS));
};
