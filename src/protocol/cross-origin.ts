import { USER_TOKEN_HEADER } from './proof-of-user.ts';

/** What a page may read beside the body. `Date` lets a client with a wrong clock judge an expiry. */
const EXPOSED = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-RateLimit-Retry-After',
  'Retry-After',
  'Date',
  USER_TOKEN_HEADER,
].join(', ');

/** Headers of what a client key opens. The key is no cookie, so pages of any origin may use it. */
export const ANY_ORIGIN = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED,
} as const;

/** Headers of the answer to a preflight, but for how long a browser may remember it. */
export const preflightHeaders = (method: string) => ({
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': method,
  'Access-Control-Allow-Headers': 'Authorization, Content-Type',
});
