import { FATAL } from '../../protocol/index.ts';
import { type Call, createDispatcher } from '../http/dispatch.ts';
import { type Answer, HttpError, JSON_HEADERS } from '../http/exchange.ts';
import { createOnceAMinute, type Log } from '../log.ts';
import type { Store } from '../store/store.ts';
import type { KeyHolder, Registry } from '../workspace/workspace.ts';
import { holderOf, permit, proveUser } from './admit.ts';
import { createRates } from './rate.ts';
import type { Route, RouteMetrics } from './route.ts';

export interface GateOptions {
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
