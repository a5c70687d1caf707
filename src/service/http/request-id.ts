import { randomUUID } from 'node:crypto';

export const REQUEST_ID_HEADER = 'X-Request-Id';

/** Characters that are safe in a log line and a header. */
const REQUEST_ID = /^[\w.:/+=-]{1,128}$/;

/** Returns the request ID from a proxy or client, or a new ID if it is missing or malformed. */
export const toRequestId = (sent: string | undefined): string =>
  sent !== undefined && REQUEST_ID.test(sent) ? sent : randomUUID();
