/**
 * Whether a stored deadline still lies ahead. All are short by nature, so one that is further away than `longestMs`
 * was written before the device's clock was set back, and counts for nothing: it would stop delivery for days.
 */
export const isAhead = (until: number, now: number, longestMs: number): boolean =>
  until > now && until - now <= longestMs;

/** The longest that a server, a refused key or a backoff makes us wait. */
export const MAX_WAIT_MS = 60 * 60_000;
/** The longest that an answer may take in any configuration. */
export const MAX_ANSWER_MS = 10 * 60_000;
/** The longest that a skipped event rests in any usual configuration: the tab that set its pause may have another one. */
export const MAX_PAUSE_MS = 10 * 60_000;
/** How long the mark of the sending tab holds. The tab renews it with each batch; without that another tab may send. */
export const LEASE_MS = 10_000;
/** A device's clock that goes further forwards than this was set, or its page was away. */
export const LEAP_MS = 10 * 60_000;
