// Contains only numbers, which bundlers inline, so that two chunks can import this file without sharing a module.

/** Version of the records and keys of the log. Another SDK version on the same origin sees only its own records. */
export const SCHEMA_VERSION = 1;

/** Maximum time that a `Date` can hold, in Unix milliseconds. Requests contain times as dates. */
export const MAX_TIME_MS = 8.64e15;
/** Maximum response time in any configuration. */
export const MAX_RESPONSE_MS = 600_000;
/** Maximum delay of one event after a rejection, or after the server failed on a request with only this event. */
export const MAX_DELAY_MS = 600_000;

/** Share of a cap that a page appends before it checks the cap, and by which an eviction goes below the cap. */
export const CAP_TOLERANCE = 0.05;
/**
 * Minimum retention of deduplication marks. A session may outlast the retention of events, and must not count an impression
 * twice.
 */
export const MIN_DEDUP_MS = 86_400_000;
/** Interval between cap checks of a page that appends little. */
export const CAP_CHECK_INTERVAL_MS = 3_600_000;
/** Maximum number of records in a read or transaction, so that it blocks the page for at most some milliseconds. */
export const MAX_TRANSACTION_RECORDS = 200;
