import type { WaitReason } from '../notices.ts';
import type { Clock } from './clock.ts';

/**
 * Whether a stored deadline still lies ahead. A deadline that is more than `maxMs` away was written before the device's clock
 * was set back. It counts as past: it would stop delivery for days.
 */
export const isAhead = (until: number, now: number, maxMs: number): boolean =>
  until > now && until - now <= maxMs;

/** The maximum that a server, a refused key or a backoff delays a request. */
export const MAX_WAIT_MS = 60 * 60_000;
/** A device's clock that goes forwards by more than this at once was set, or the page was suspended. */
export const LEAP_MS = 10 * 60_000;

/**
 * Runs `callback` after `ms`, and returns a function that cancels it. It uses two timers, one after the other. When a page
 * was suspended, a timer and the answer that it waits for are both due at once, and the engine may run the timer first. The
 * second timer starts after that, so the answer comes before it.
 */
export const afterTimeout = (after: Clock['after'], ms: number, callback: () => void): (() => void) => {
  let cancel = after(ms / 2, () => {
    cancel = after(ms / 2, callback);
  });
  return () => cancel();
};

/** Rejects where the work takes longer than `ms`; its result is ignored after that. `name` is for the message. */
export const withTimeout = <T>(
  work: T | Promise<T>,
  after: Clock['after'],
  ms: number,
  name: string,
): Promise<T> => {
  let cancel: () => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    cancel = afterTimeout(after, ms, () => reject(new Error(`${name} did not answer within ${ms} ms`)));
  });
  return Promise.race([work, late]).finally(cancel);
};

/** Nothing is requested before `until`. Sync keeps its pause in memory, the delivery keeps one for all tabs in the log. */
export interface Pause {
  /** Unix milliseconds. */
  until: number;
  reason: WaitReason;
  /** Failures in a row. Requests that fail side by side are one. */
  failures: number;
  /** The server requested it, or refuses all requests: no sign of life ends it early. */
  isFirm: boolean;
}

/** Why there is to be a pause. */
export interface PauseCause {
  reason: WaitReason;
  /** The pause that the server requested, in milliseconds; 0 or nothing where it named none. */
  requestedMs?: number;
  /** The network changed under the request: the failures before say nothing about the new one. */
  isFirst?: boolean;
}

export const noPause = (): Pause => ({ until: 0, reason: 'backoff', failures: 0, isFirm: false });

export const isPausing = ({ until }: Pause, now: number): boolean => isAhead(until, now, MAX_WAIT_MS);

/** A sign of life ends a backoff: the same pause where it ends none. */
export const endEarly = (pause: Pause, now: number): Pause =>
  pause.isFirm || !isPausing(pause, now) ? pause : { ...pause, until: now };
