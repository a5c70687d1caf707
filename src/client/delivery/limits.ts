// Nothing but numbers: bundlers write them where they are used, so two chunks can import this file and share nothing.

/** Version of the records and keys of the log. Another version of the SDK on the same origin finds only its own. */
export const VERSION = 1;

/** Maximum time that a response takes in any configuration. */
export const MAX_ANSWER_MS = 600_000;
/** Maximum delay of one event after a skip, or after the server failed at it alone. */
export const MAX_PAUSE_MS = 600_000;

/** A page looks at the caps again when it has appended this share of one. An eviction goes below the cap by the same share. */
export const SLACK = 0.05;
/** A session may last longer than the host keeps events, and knows for all of it what it has counted. */
export const MIN_COUNTED_MS = 86_400_000;
/** How often a page that appends little looks at the caps. */
export const TIDY_MS = 3_600_000;
/** Records in one read or transaction. */
export const SLICE = 200;
