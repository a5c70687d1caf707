import { FATAL, rateLimitHeaders } from '../../protocol/index.ts';
import { HttpError } from '../http-error.ts';
import type { Route } from '../route.ts';
import type { RateState } from '../store/store.ts';

/** The headers that tell of a request that was counted, or a 429 with its own. */
export const rateHeaders = (route: Route, state: RateState, now: number): Record<string, string> => {
  const headers = rateLimitHeaders(route.rate, state, now, !state.allowed);
  if (!state.allowed) throw new HttpError(429, FATAL.overRateLimit, { headers });
  return headers;
};
