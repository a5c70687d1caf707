import { hash } from 'node:crypto';
import type * as z from 'zod';
import {
  ERROR_MESSAGES,
  isRecord,
  isVisitorId,
  rateLimitHeaders,
  USER_TOKEN_MEMBER,
} from '../../protocol/index.ts';
import { readBody } from '../../protocol/schemas/index.ts';
import { type HandlerResult, HttpError, JSON_HEADERS } from '../http/http-request.ts';
import { type Call, createRouter } from '../http/router.ts';
import { createLogThrottle, type Log } from '../log.ts';
import { windowStart } from '../store/rate-windows.ts';
import type { RateLimitResult, RateLimitWindow, Store } from '../store/store.ts';
import { userTokenError } from '../user-tokens/user-tokens.ts';
import type { LimitName } from '../workspace/limits.ts';
import type { AuthenticatedKey, Registry, Workspace } from '../workspace/workspace.ts';
import type { Route, RouteMetrics } from './route.ts';

/** The contract writes the word like this, then one space, and no quotes. Any other form is no key. */
const BEARER = /^Bearer ([^\s"']\S*)$/;
const MAX_KEY_CHARACTERS = 1_024;

const unauthorized = (why: string) =>
  new HttpError(401, ERROR_MESSAGES.invalidKey, { headers: { 'WWW-Authenticate': 'Bearer' }, why });

/** The key that the request carries, and its workspace. Throws a 401 where no workspace has the key. */
const findApiKey = (authorization: string | undefined, registry: Registry): AuthenticatedKey => {
  if (authorization === undefined) throw unauthorized('no Authorization header');
  const presented = authorization.length <= MAX_KEY_CHARACTERS ? BEARER.exec(authorization)?.[1] : undefined;
  if (presented === undefined)
    throw unauthorized('the Authorization header is not "Bearer", a space and one key');
  // Text first: a digest made as a buffer takes twice as long.
  const holder = registry.holderOf(Buffer.from(hash('sha256', presented, 'hex'), 'hex'));
  if (!holder) throw unauthorized('the key is of no workspace');
  return holder;
};

/** Throws a 403 where the key lacks the permission of the route. */
const requirePermission = ({ key }: AuthenticatedKey, route: Route): void => {
  if (key.permissions.has(route.permission)) return;
  const why = `the key lacks the permission ${route.permission}`;
  // `banners/sync` has no 403: a key without the permission is answered like no key.
  if (route.errors === 'sync') throw unauthorized(why);
  throw new HttpError(403, ERROR_MESSAGES.accessDenied, { why });
};

/** Who a body of a page says that it is from. A member that is no text is `null` here, and the route refuses the body later. */
interface ClaimedIdentity {
  appId: string | null;
  userId: string | null;
  token: unknown;
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const readIdentity = (body: unknown): ClaimedIdentity => {
  if (!isRecord(body)) return { appId: null, userId: null, token: undefined };
  const { app_id, external_user_id, [USER_TOKEN_MEMBER]: token } = body;
  return { appId: textOrNull(app_id), userId: textOrNull(external_user_id), token };
};

/** Throws a 401 where the app wants proof of the user and the sender has none that holds. */
const verifyUserToken = async (
  { userTokens }: Workspace,
  { appId, userId, token }: ClaimedIdentity,
  nowMs: number,
): Promise<void> => {
  if (appId === null || userId === null) return;
  const fault = await userTokens.get(appId)?.verify(token, userId, nowMs);
  if (fault) throw userTokenError(appId, fault);
};

/** Returns the parsed query, with the first value of a repeated name. Throws a 400 with the schema's first issue. */
const readQuery = (schema: z.core.$ZodType, search: string): unknown => {
  const sent = Object.fromEntries([...new URLSearchParams(search)].reverse());
  const query = readBody(schema as z.core.$ZodType<object>, sent);
  if (typeof query === 'string') throw new HttpError(400, query);
  return query;
};

/** Users who are counted in one window, some 100 bytes each. With more of them the count begins anew. */
const MAX_USERS = 100_000;
/** A longer ID is counted by its hash: clients choose how long it is. */
const MAX_ID_CHARACTERS = 64;

/**
 * Counts the requests of each user, in windows that start at whole multiples of their length. The counts are in the memory of this
 * replica: each replica allows a user as many, and a request costs the database nothing.
 */
export const createUserRateLimiter = (maxUsers = MAX_USERS) => {
  const windows = new Map<string, { startMs: number; taken: Map<string, number> }>();

  /** `scope` names a workspace's endpoint. */
  return (
    scope: string,
    userId: string,
    { requests, windowSeconds }: RateLimitWindow,
    nowMs: number,
  ): RateLimitResult => {
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

/** The headers of a request that was counted. Throws a 429 with these headers where it is one too many. */
const rateHeaders = (
  { rate }: Route,
  limit: LimitName,
  whose: string,
  state: RateLimitResult,
  nowMs: number,
): Record<string, string> => {
  const headers = rateLimitHeaders(rate, state, nowMs, !state.allowed);
  if (state.allowed) return headers;
  const why = `${ERROR_MESSAGES.overRateLimit}: more than ${state.limit} requests of ${whose} in the window of limits.${limit}`;
  throw new HttpError(429, ERROR_MESSAGES.overRateLimit, { headers, why });
};

interface ApiPipelineOptions {
  routes: readonly Route[];
  registry: () => Registry;
  store: Store;
  now: () => number;
  log: Log;
  metricsOf: (route: Route) => RouteMetrics;
}

/** Logs why requests are refused, once a minute for each cause: a page with a wrong key asks again and again. */
const createRejectionLog = (log: Log) => {
  const isDue = createLogThrottle();

  /** `holder` is absent where the key is not known. */
  return (
    { status, why }: HttpError,
    call: Call<Route>,
    holder: AuthenticatedKey | undefined,
    nowMs: number,
  ): void => {
    if (status < 400 || status >= 500) return;
    const facts = {
      ...(holder && { workspace: holder.workspace.workspaceId, key: holder.key.name }),
      path: call.endpoint.path,
      status,
      why,
    };
    if (isDue(JSON.stringify(facts), nowMs))
      log.warn({ request_id: call.request.requestId, ...facts }, 'requests refused');
  };
};

/**
 * The routes of the API, and what stands before each of them, cheap and secret-safe checks first: route and method, then key,
 * permission, feature, rate of the workspace, content type, size, JSON, proof of the user, rate of the user, shape.
 */
export const createApiPipeline = ({ routes, registry, store, now, log, metricsOf }: ApiPipelineOptions) => {
  const metrics = new Map(routes.map((route) => [route, metricsOf(route)]));
  const consumeUserLimit = createUserRateLimiter();
  const logRejection = createRejectionLog(log);

  /** Counts the request for its workspace, before the body is read. */
  const countWorkspace = async ({ limits }: Workspace, route: Route, nowMs: number) => {
    const windows = limits[route.limit];
    if (windows.length === 0) return {};
    return rateHeaders(
      route,
      route.limit,
      'the workspace',
      await store.consumeRateLimit(windows, nowMs),
      nowMs,
    );
  };

  /** Counts the request for its user. These headers replace the workspace's: a page can keep to its own limit alone. */
  const countUser = (workspace: Workspace, route: Route, { userId }: ClaimedIdentity, nowMs: number) => {
    const rule = workspace.userLimits[route.limit];
    if (!rule || userId === null) return {};
    const scope = `${workspace.workspaceId}:${route.limit}`;
    return rateHeaders(route, route.limit, 'one user', consumeUserLimit(scope, userId, rule, nowMs), nowMs);
  };

  /** Counts a request that stores something of a visitor for all visitors: each new visitor has a limit of their own. */
  const countVisitors = async (
    { limits }: Workspace,
    route: Route,
    { userId }: ClaimedIdentity,
    nowMs: number,
  ) => {
    if (route.limit !== 'banners_track' || userId === null || !isVisitorId(userId)) return;
    const state = await store.consumeRateLimit(limits.visitors, nowMs);
    rateHeaders(route, 'visitors', 'all visitors', state, nowMs);
  };

  const serve = async (call: Call<Route>): Promise<HandlerResult> => {
    const { request, endpoint: route, params } = call;
    let holder: AuthenticatedKey | undefined;
    let time = now();
    try {
      holder = findApiKey(request.header('authorization'), registry());
      requirePermission(holder, route);
      const { workspace, key } = holder;
      if (route.crossOrigin && !workspace.bannersEnabled) throw new HttpError(404, ERROR_MESSAGES.notFound);
      call.headers = { ...call.headers, ...(await countWorkspace(workspace, route, time)) };
      const sent = await call.readJson();
      // A slow body may have taken a minute: from here on it counts when the request was complete.
      time = now();
      const sender = readIdentity(sent);
      // The proof is first, so that no client can use up the limit of another user.
      if (route.crossOrigin && workspace.userTokens.size > 0) await verifyUserToken(workspace, sender, time);
      call.headers = { ...call.headers, ...countUser(workspace, route, sender, time) };
      await countVisitors(workspace, route, sender, time);
      const content = await route.handler({
        workspace,
        key,
        store,
        query: route.query ? readQuery(route.query, request.search) : undefined,
        params,
        body: route.body?.read(sent),
        acceptLanguage: request.header('accept-language') ?? '',
        userAgent: request.header('user-agent') ?? '',
        now: time,
        metrics: metrics.get(route)!,
      });
      return { status: route.response.status, ...content };
    } catch (error) {
      if (error instanceof HttpError) logRejection(error, call, holder, time);
      throw error;
    }
  };

  return createRouter({
    endpoints: routes,
    headers: JSON_HEADERS,
    errors: 'general',
    serve,
    log,
  });
};
