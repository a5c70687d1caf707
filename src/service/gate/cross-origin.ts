import { USER_TOKEN_HEADER } from '../../protocol/index.ts';
import type { Route } from '../route.ts';
import type { Reply } from './exchange.ts';

/** How long a browser may remember a preflight, in seconds; Chromium's own cap. */
const PREFLIGHT_SECONDS = 7_200;

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

const ANY_ORIGIN = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED };

/** Headers of every answer of an endpoint that pages of other origins may call; a client key is no cookie. */
export const crossOriginHeaders = (route: Route): Record<string, string> =>
  route.crossOrigin ? ANY_ORIGIN : {};

export const preflight = (route: Route): Reply => ({
  status: 204,
  headers: {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': route.method,
    'Access-Control-Allow-Headers': 'Authorization, Content-Type',
    'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
  },
  body: '',
});
