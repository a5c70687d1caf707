import { MAX_TIMER_MS } from './sleep.ts';

/** Throws a `TypeError` for a time limit that no timer keeps. */
export const checkTimeLimit = (timeoutMs: number): void => {
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > MAX_TIMER_MS)
    throw new TypeError(`timeoutMs: ${timeoutMs} is not a whole number from 1 to ${MAX_TIMER_MS}`);
};
