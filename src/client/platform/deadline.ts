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
/** The maximum pause of a skipped event in any usual configuration. The tab that set the pause may have another one. */
export const MAX_PAUSE_MS = 10 * 60_000;
/** A device's clock that goes forwards by more than this at once was set, or the page was suspended. */
export const LEAP_MS = 10 * 60_000;
