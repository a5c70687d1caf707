import type { PauseReason } from '../notices.ts';
import type { Clock } from './clock.ts';

/**
 * Returns whether a stored deadline is in the future. A deadline more than `maxMs` ahead was written before the device's clock
 * was set back. It counts as past, because it could stop delivery for days.
 */
export const isPendingDeadline = (until: number, now: number, maxMs: number): boolean =>
  until > now && until - now <= maxMs;

/** Maximum delay of a request by a server, a rejected key or a backoff. */
export const MAX_PAUSE_MS = 60 * 60_000;
/** A larger forward jump of the device's clock means that it was set, or that the page was suspended. */
export const CLOCK_JUMP_MS = 10 * 60_000;

/**
 * Runs `callback` after `ms`. Returns a function that cancels it. Uses two consecutive timers, because after a suspension a timer
 * and the response that it limits are due at once, and the engine may run the timer first. The second timer lets the response go
 * first.
 */
export const afterTimeout = (after: Clock['after'], ms: number, callback: () => void): (() => void) => {
  let cancel = after(ms / 2, () => {
    cancel = after(ms / 2, callback);
  });
  return () => cancel();
};

/** Rejects if the work takes longer than `ms`. A later result is ignored. `name` appears in the error message. */
export const withTimeout = <T>(
  work: T | Promise<T>,
  after: Clock['after'],
  ms: number,
  name: string,
): Promise<T> => {
  let cancel: () => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    cancel = afterTimeout(after, ms, () => reject(new Error(`${name} timed out after ${ms} ms`)));
  });
  return Promise.race([work, late]).finally(cancel);
};

/** Pause without requests before `until`. Sync keeps its pause in memory; delivery keeps one for all tabs in the log. */
export interface Pause {
  /** Unix milliseconds. */
  until: number;
  reason: PauseReason;
  /** Consecutive failures. Concurrent failures count as one. */
  failures: number;
  /**
   * Whether the server requested the pause or rejects all requests. If so, the return of the network or the user does not end the
   * pause.
   */
  isServerMandated: boolean;
}

/** Cause of a pause. */
export interface PauseCause {
  reason: PauseReason;
  /** Pause that the server requested, in milliseconds; 0 or absent if none. */
  requestedMs?: number;
  /** Whether the network changed during the request, so that earlier failures do not count. */
  isNewNetwork?: boolean;
}

export const noPause = (): Pause => ({ until: 0, reason: 'backoff', failures: 0, isServerMandated: false });

export const isPaused = ({ until }: Pause, now: number): boolean =>
  isPendingDeadline(until, now, MAX_PAUSE_MS);

/** Returns the pause after the return of the network or the user: ended now, or unchanged if the server requested it or it is over. */
export const endPauseEarly = (pause: Pause, now: number): Pause =>
  pause.isServerMandated || !isPaused(pause, now) ? pause : { ...pause, until: now };
