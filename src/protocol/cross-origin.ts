import { USER_TOKEN_HEADER } from './user-token.ts';

/** Response headers exposed to pages. A client with a wrong clock uses `Date` to evaluate expiry. */
const EXPOSED = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-RateLimit-Retry-After',
  'Retry-After',
  'Date',
  USER_TOKEN_HEADER,
].join(', ');

/** CORS headers of endpoints for client keys. The key is not a cookie, so any origin may use it. */
export const ANY_ORIGIN = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED,
} as const;

/**
 * Returns the headers of a preflight response, except `Access-Control-Max-Age`. Allows every requested header, because tracing
 * tools add headers to each request of a page (`traceparent`, `baggage`, `sentry-trace`).
 */
export const preflightHeaders = (method: string, requestedHeaders?: string | null) => ({
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': method,
  'Access-Control-Allow-Headers': requestedHeaders || 'Authorization, Content-Type',
});
