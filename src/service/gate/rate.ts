import { FATAL, rateLimitHeaders } from '../../protocol/index.ts';
import type { Route } from '../route.ts';
import type { Store } from '../store/store.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { HttpError } from './http-error.ts';

/** Counts the request and gives the headers that tell of it, or throws a 429 with its own. */
export const takeRate = async (
  route: Route,
  workspace: Workspace,
  store: Store,
  now: number,
): Promise<Record<string, string>> => {
  const state = await store.takeRate(workspace.limits[route.limit], now);
  const headers = rateLimitHeaders(route.rate, state, now, !state.allowed);
  if (!state.allowed) throw new HttpError(429, FATAL.overRateLimit, { headers });
  return headers;
};
