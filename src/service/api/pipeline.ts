import { hash } from 'node:crypto';
import type * as z from 'zod';
import {
  ERROR_MESSAGES,
  isRecord,
  isVisitorId,
  type LimitName,
  type RateLimitWindow,
  rateLimitHeaders,
  USER_TOKEN_MEMBER,
} from '../../protocol/index.ts';
import { readBody } from '../../protocol/schemas/index.ts';
import { type HandlerResult, HttpError, JSON_HEADERS } from '../http/http-request.ts';
import { type Call, createRouter } from '../http/router.ts';
import { createLogThrottle, type Log } from '../log.ts';
import { windowStart } from '../store/rate-windows.ts';
import type { RateLimitResult, Store } from '../store/store.ts';
import { userTokenError } from '../user-tokens/user-tokens.ts';
import type { AuthenticatedKey, Registry, Workspace } from '../workspace/workspace.ts';
import type { Route, RouteMetrics } from './route.ts';

/** Form of the header in the contract: one space, no quotes. Any other value is not a key. */
const BEARER = /^Bearer ([^\s"']\S*)$/;
const MAX_KEY_CHARACTERS = 1_024;

const unauthorized = (reason: string) =>
  new HttpError(401, ERROR_MESSAGES.invalidKey, { headers: { 'WWW-Authenticate': 'Bearer' }, reason });

/** Returns the API key of the request and its workspace. Throws a 401 if no workspace has the key. */
const findApiKey = (authorization: string | undefined, registry: Registry): AuthenticatedKey => {
  if (authorization === undefined) throw unauthorized('no Authorization header');
  const presented = authorization.length <= MAX_KEY_CHARACTERS ? BEARER.exec(authorization)?.[1] : undefined;
  if (presented === undefined) throw unauthorized('malformed Authorization header');
  // Hex first, because a digest as a buffer takes twice as long.
  const authenticated = registry.findApiKey(Buffer.from(hash('sha256', presented, 'hex'), 'hex'));
  if (!authenticated) throw unauthorized('unknown API key');
  return authenticated;
};

/** Throws a 403 if the key lacks the route's permission. */
const requirePermission = ({ key }: AuthenticatedKey, route: Route): void => {
  if (key.permissions.has(route.permission)) return;
  const reason = `the key lacks the permission ${route.permission}`;
  // `banners/sync` has no 403. A key without the permission gets the same response as an unknown key.
  if (route.errorFormat === 'sync') throw unauthorized(reason);
  throw new HttpError(403, ERROR_MESSAGES.accessDenied, { reason });
};

/** Identity claimed by a browser request. A member that is not a string becomes `null`, and the route rejects the body later. */
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

/** Throws a 401 if the app requires a user token and the request has no valid one. */
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

/** Maximum users counted in one window, about 100 bytes each. Above it, all counts are reset. */
const MAX_USERS = 100_000;
/** Maximum length of a counted ID. Longer IDs are counted by their hash, because clients choose the length. */
const MAX_ID_CHARACTERS = 64;

/**
 * Limits the requests of each user in windows aligned to multiples of their length. Counts are per replica and in memory, so the
 * effective limit grows with the number of replicas, and a request costs no database access.
 */
export const createUserRateLimiter = (maxUsers = MAX_USERS) => {
  const windows = new Map<string, { startMs: number; used: Map<string, number> }>();

  /** Counts a request of the user. `scope` identifies the endpoint and workspace. */
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
    if (window?.startMs !== startMs || window.used.size >= maxUsers) {
      window = { startMs, used: new Map() };
      windows.set(id, window);
    }
    const used = window.used.get(user) ?? 0;
    const allowed = used < requests;
    if (allowed) window.used.set(user, used + 1);
    return {
      allowed,
      limit: requests,
      remaining: allowed ? requests - used - 1 : 0,
      resetAtMs: startMs + windowMs,
    };
  };
};

/** Returns the rate-limit headers of a counted request. Throws a 429 with them if the limit is exceeded. */
const rateHeaders = (
  { rateHeaderFormat }: Route,
  limit: LimitName,
  whose: string,
  state: RateLimitResult,
  nowMs: number,
): Record<string, string> => {
  const headers = rateLimitHeaders(rateHeaderFormat, state, nowMs, !state.allowed);
  if (state.allowed) return headers;
  const reason = `${ERROR_MESSAGES.overRateLimit}: more than ${state.limit} requests of ${whose} in the window of limits.${limit}`;
  throw new HttpError(429, ERROR_MESSAGES.overRateLimit, { headers, reason });
};

interface ApiPipelineOptions {
  routes: readonly Route[];
  registry: () => Registry;
  store: Store;
  now: () => number;
  log: Log;
  getRouteMetrics: (route: Route) => RouteMetrics;
}

/** Logs rejected requests at most once a minute per cause, because a page with a wrong key keeps retrying. */
const createRejectionLog = (log: Log) => {
  const shouldLog = createLogThrottle();

  /** `authenticated` is `undefined` if the key is unknown. */
  return (
    { status, reason }: HttpError,
    call: Call<Route>,
    authenticated: AuthenticatedKey | undefined,
    nowMs: number,
  ): void => {
    if (status < 400 || status >= 500) return;
    const fields = {
      ...(authenticated && { workspace: authenticated.workspace.workspaceId, key: authenticated.key.name }),
      path: call.endpoint.path,
      status,
      reason,
    };
    if (shouldLog(JSON.stringify(fields), nowMs))
      log.warn({ request_id: call.request.requestId, ...fields }, 'requests rejected');
  };
};

/**
 * Runs the checks before each route in this order: route and method, key, permission, feature, workspace rate, content type,
 * size, JSON, user token, user rate, visitor rate, query, schema. Cheap checks, and those that reveal no secret, run first.
 */
export const createApiPipeline = ({
  routes,
  registry,
  store,
  now,
  log,
  getRouteMetrics,
}: ApiPipelineOptions) => {
  const metrics = new Map(routes.map((route) => [route, getRouteMetrics(route)]));
  const consumeUserLimit = createUserRateLimiter();
  const logRejection = createRejectionLog(log);

  /** Counts the request for its workspace before the body is read. */
  const countWorkspace = async ({ limits }: Workspace, route: Route, nowMs: number) => {
    const state = await store.consumeRateLimit(limits[route.limit], nowMs);
    return rateHeaders(route, route.limit, 'the workspace', state, nowMs);
  };

  /** Counts the request for its user. The user's headers replace the workspace's, because a page can only obey its own limit. */
  const countUser = (workspace: Workspace, route: Route, { userId }: ClaimedIdentity, nowMs: number) => {
    const rule = workspace.userLimits[route.limit];
    if (!rule || userId === null) return {};
    const scope = `${workspace.workspaceId}:${route.limit}`;
    return rateHeaders(route, route.limit, 'one user', consumeUserLimit(scope, userId, rule, nowMs), nowMs);
  };

  /** Counts a request that stores visitor data against a limit shared by all visitors, because each new visitor has a limit. */
  const countVisitors = async (
    { limits }: Workspace,
    route: Route,
    { userId }: ClaimedIdentity,
    nowMs: number,
  ) => {
    if (userId === null || !isVisitorId(userId)) return;
    const state = await store.consumeRateLimit(limits.visitors, nowMs);
    rateHeaders(route, 'visitors', 'all visitors', state, nowMs);
  };

  const serve = async (call: Call<Route>): Promise<HandlerResult> => {
    const { request, endpoint: route, params } = call;
    let authenticated: AuthenticatedKey | undefined;
    let time = now();
    try {
      authenticated = findApiKey(request.header('authorization'), registry());
      requirePermission(authenticated, route);
      const { workspace, key } = authenticated;
      if (route.crossOrigin && !workspace.bannersEnabled) throw new HttpError(404, ERROR_MESSAGES.notFound);
      if (workspace.limits[route.limit].length > 0)
        call.headers = { ...call.headers, ...(await countWorkspace(workspace, route, time)) };
      const sent = await call.readJson();
      // Receiving a slow body may take a minute, so the request time is when the request was complete.
      time = now();
      const sender = readIdentity(sent);
      // The token is verified first, so that no client can exhaust another user's limit.
      if (route.crossOrigin && workspace.userTokens.size > 0) await verifyUserToken(workspace, sender, time);
      call.headers = { ...call.headers, ...countUser(workspace, route, sender, time) };
      if (route.limit === 'banners_track') await countVisitors(workspace, route, sender, time);
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
      if (error instanceof HttpError) logRejection(error, call, authenticated, time);
      throw error;
    }
  };

  return createRouter({
    endpoints: routes,
    headers: JSON_HEADERS,
    errorFormat: 'general',
    serve,
    log,
  });
};
