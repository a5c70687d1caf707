import { hash } from 'node:crypto';
import { FATAL, isRecord, isVisitorId, rateLimitHeaders } from '../../protocol/index.ts';
import { HttpError } from '../http/exchange.ts';
import { windowStart } from '../store/rate-windows.ts';
import type { RateRule, RateState, Store } from '../store/store.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Route } from './route.ts';

/** Users that are counted in one window, some 100 bytes each. With more of them counting begins anew. */
const MAX_USERS = 100_000;
/** A longer ID is counted by its hash: clients choose how long it is. */
const MAX_ID_CHARACTERS = 64;

/** The user that a body of a banner endpoint names; `null` where it names none, and the route refuses it. */
export const userOf = (body: unknown): string | null =>
  isRecord(body) && typeof body['external_user_id'] === 'string' ? body['external_user_id'] : null;

/**
 * Counts the requests of each user, in windows that start at whole multiples of their length. In the memory of this
 * replica: each replica allows a user as many, and a request costs the database nothing.
 */
export const createUserRates = (maxUsers = MAX_USERS) => {
  const windows = new Map<string, { startMs: number; taken: Map<string, number> }>();

  /** `scope` names a workspace's endpoint. */
  return (scope: string, userId: string, { requests, windowSeconds }: RateRule, nowMs: number): RateState => {
    const windowMs = windowSeconds * 1000;
    const id = `${scope} ${windowSeconds}`;
    const user = userId.length > MAX_ID_CHARACTERS ? hash('sha256', userId) : userId;
    let window = windows.get(id);
    const startMs = windowStart(window?.startMs, windowMs, nowMs);
    if (window?.startMs !== startMs || window.taken.size >= maxUsers) {
      window = { startMs, taken: new Map() };
      windows.set(id, window);
    }
    const taken = window.taken.get(user) ?? 0;
    const allowed = taken < requests;
    if (allowed) window.taken.set(user, taken + 1);
    return {
      allowed,
      limit: requests,
      remaining: allowed ? requests - taken - 1 : 0,
      resetAtMs: startMs + windowMs,
    };
  };
};

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
