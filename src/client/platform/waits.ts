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
/** The maximum that an answer may take in any configuration. */
export const MAX_ANSWER_MS = 10 * 60_000;
/** The longest that one event waits after a skip, or after the server failed at it alone. */
export const MAX_PAUSE_MS = 10 * 60_000;
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

const BASE_MS = 1_000;
const CAP_MS = 5 * 60_000;
/** The minimum wait, as a share of the ceiling. Without it, several short waits in a row would be a burst of requests. */
const MIN_SHARE = 0.1;

/**
 * How long to wait after `failures` refusals in a row (1 or more), in milliseconds. The ceiling doubles with each refusal, and
 * jitter covers nearly all of it, so that browsers that failed together do not retry together. In the long run that makes
 * about 22 requests an hour, at most 120, and one more each time the network or the user is back.
 */
const backoffMs = (failures: number, random: () => number): number => {
  const ceiling = Math.min(CAP_MS, BASE_MS * 2 ** Math.min(failures, 20));
  return Math.round(ceiling * (MIN_SHARE + (1 - MIN_SHARE) * random()));
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

/** The pause after a failure, where `before` was the pause until then. Of two that run at once the longer one holds. */
export const pauseAfter = (
  before: Pause,
  { reason, requestedMs = 0, isFirst }: PauseCause,
  now: number,
  random: () => number,
): Pause => {
  const isSideBySide = isPausing(before, now);
  const failures = isFirst ? 1 : before.failures + Number(!isSideBySide);
  const isNamed = reason === 'rate-limit' && requestedMs > 0;
  // A server that is down may name a shorter pause than the backoff.
  const ms = isNamed ? requestedMs : Math.max(requestedMs, backoffMs(failures, random));
  const isRefused = requestedMs > 0 || (reason !== 'backoff' && reason !== 'offline');
  const isFirm = isRefused || (isSideBySide && before.isFirm);
  const isLonger = !isSideBySide || now + ms > before.until;
  return isLonger ? { until: now + ms, reason, failures, isFirm } : { ...before, failures, isFirm };
};

/** A sign of life ends a backoff: the same pause where it ends none. */
export const endEarly = (pause: Pause, now: number): Pause =>
  pause.isFirm || !isPausing(pause, now) ? pause : { ...pause, until: now };
