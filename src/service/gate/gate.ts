import { hash } from 'node:crypto';
import { FATAL, isRecord, USER_TOKEN_MEMBER } from '../../protocol/index.ts';
import { type Call, createDispatcher } from '../http/dispatch.ts';
import { type Answer, HttpError, JSON_HEADERS } from '../http/exchange.ts';
import { createOnceAMinute, type Log } from '../log.ts';
import type { Store } from '../store/store.ts';
import { unproven } from '../user-tokens/user-tokens.ts';
import type { KeyHolder, Registry, Workspace } from '../workspace/workspace.ts';
import { createRates } from './rate.ts';
import type { Route, RouteMetrics } from './route.ts';

/** The word as the contract writes it, one space, no quotes: any other form is no key. */
const BEARER = /^Bearer ([^\s"']\S*)$/;
const MAX_KEY_CHARACTERS = 1_024;

const unauthorized = (why: string) =>
  new HttpError(401, FATAL.invalidKey, { headers: { 'WWW-Authenticate': 'Bearer' }, why });

/** Who holds the key that the request carries. Throws a 401 where it carries none that a workspace has. */
export const holderOf = (authorization: string | undefined, registry: Registry): KeyHolder => {
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
const permit = ({ key }: KeyHolder, route: Route): void => {
  if (key.permissions.has(route.permission)) return;
  const why = `the key lacks the permission ${route.permission}`;
  // `banners/sync` has no 403: a key without the permission is answered like no key.
  if (route.errors === 'sync') throw unauthorized(why);
  throw new HttpError(403, FATAL.accessDenied, { why });
};

/**
 * Throws a 401 where the app wants proof of the user and the body has none that holds. The route checks the rest of the
 * body.
 */
const proveUser = async (workspace: Workspace, body: unknown, nowMs: number): Promise<void> => {
  if (!isRecord(body)) return;
  const { app_id: appId, external_user_id: userId, [USER_TOKEN_MEMBER]: token } = body;
  if (typeof appId !== 'string' || typeof userId !== 'string') return;
  const fault = await workspace.userTokens.get(appId)?.judge(token, userId, nowMs);
  if (fault) throw unproven(appId, fault);
};

interface GateOptions {
  routes: readonly Route[];
  registry: () => Registry;
  store: Store;
  now: () => number;
  log: Log;
  metricsOf: (route: Route) => RouteMetrics;
}

/** Logs why requests are refused, once a minute for each cause: a page whose key is wrong asks again and again. */
const createRefusalLog = (log: Log) => {
  const isDue = createOnceAMinute();

  /** `holder` is who sent it, as far as that is known. */
  return ({ status, why }: HttpError, route: Route, holder: KeyHolder | undefined, nowMs: number): void => {
    if (status < 400 || status >= 500) return;
    const facts = {
      ...(holder && { workspace: holder.workspace.workspaceId, key: holder.key.name }),
      path: route.path,
      status,
      why,
    };
    if (isDue(JSON.stringify(facts), nowMs)) log.warn(facts, 'requests refused');
  };
};

/**
 * The routes of the API, and what stands before each of them, cheap and secret-safe checks first: route and method, then key,
 * permission, feature, rate of the workspace, content type, size, JSON, proof of the user, rate of the user, shape.
 */
export const createGate = ({ routes, registry, store, now, log, metricsOf }: GateOptions) => {
  const metrics = new Map(routes.map((route) => [route, metricsOf(route)]));
  const rates = createRates(store);
  const logRefusal = createRefusalLog(log);

  const serve = async (call: Call<Route>): Promise<Answer> => {
    const { exchange, endpoint: route, params } = call;
    let holder: KeyHolder | undefined;
    let time = now();
    try {
      holder = holderOf(exchange.header('authorization'), registry());
      permit(holder, route);
      const { workspace, key } = holder;
      if (route.crossOrigin && !workspace.bannersEnabled) throw new HttpError(404, FATAL.notFound);
      call.headers = { ...call.headers, ...(await rates.ofWorkspace(workspace, route, time)) };
      const sent = await call.readJson();
      // A slow body may have taken a minute: from here on it counts when the request was complete.
      time = now();
      // First the proof: no client can use up the limit of another user.
      if (route.crossOrigin && workspace.userTokens.size > 0) await proveUser(workspace, sent, time);
      call.headers = { ...call.headers, ...rates.ofUser(workspace, route, sent, time) };
      await rates.ofVisitors(workspace, route, sent, time);
      return await route.answer({
        workspace,
        key,
        store,
        query: new URLSearchParams(exchange.search),
        params,
        body: route.request?.read(sent),
        acceptLanguage: exchange.header('accept-language') ?? '',
        userAgent: exchange.header('user-agent') ?? '',
        now: time,
        metrics: metrics.get(route)!,
      });
    } catch (error) {
      if (error instanceof HttpError) logRefusal(error, route, holder, time);
      throw error;
    }
  };

  return createDispatcher({
    endpoints: routes,
    headers: JSON_HEADERS,
    dialectOf: (route) => route?.errors ?? 'general',
    serve,
    log,
  });
};
