import { FATAL, isVisitorId, rateLimitHeaders } from '../../protocol/index.ts';
import { HttpError } from '../http-error.ts';
import type { Route } from '../route.ts';
import type { RateState, Store } from '../store/store.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { createUserRates, userOf } from './user-rate.ts';

/** Counts a request. Each verb returns the headers that say so, or throws a 429 with its own. */
export const createRates = (store: Store) => {
  const takeOfUser = createUserRates();

  const headersOf = (
    route: Route,
    state: RateState,
    nowMs: number,
    whose: string,
  ): Record<string, string> => {
    const headers = rateLimitHeaders(route.rate, state, nowMs, !state.allowed);
    if (state.allowed) return headers;
    const why = `${FATAL.overRateLimit}: more than ${state.limit} requests of ${whose} in the window of limits.${route.limit}`;
    throw new HttpError(429, FATAL.overRateLimit, { headers, why });
  };

  return {
    /** Of the workspace, before the body is read. No headers where the workspace has no limit. */
    async ofWorkspace(workspace: Workspace, route: Route, nowMs: number): Promise<Record<string, string>> {
      const windows = workspace.limits[route.limit];
      if (windows.length === 0) return {};
      return headersOf(route, await store.takeRate(windows, nowMs), nowMs, 'the workspace');
    },
    /** Of the user whom the body names. They take the place of the workspace's: a page can keep to its own limit alone. */
    ofUser(workspace: Workspace, route: Route, body: unknown, nowMs: number): Record<string, string> {
      const rule = workspace.userLimits[route.limit];
      const user = userOf(body);
      if (!rule || user === null) return {};
      const scope = `${workspace.workspaceId}:${route.limit}`;
      return headersOf(route, takeOfUser(scope, user, rule, nowMs), nowMs, 'one user');
    },
    /** Of all visitors together, for requests that store something: each made-up visitor has a fresh limit of their own. */
    async ofVisitors(workspace: Workspace, route: Route, body: unknown, nowMs: number): Promise<void> {
      if (route.limit !== 'banners_track' || !isVisitorId(userOf(body) ?? '')) return;
      const state = await store.takeRate(workspace.limits.visitors, nowMs);
      headersOf({ ...route, limit: 'visitors' }, state, nowMs, 'all visitors');
    },
  };
};
