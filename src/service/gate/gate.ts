import { FATAL } from '../../protocol/index.ts';
import { createHeldBodies, createLargeBodies, readJson } from '../http/body.ts';
import { type Exchange, HttpError, JSON_HEADERS, type Reply, refusalOf, replyOf } from '../http/exchange.ts';
import type { Log } from '../log.ts';
import type { Route, RouteMetrics } from '../route.ts';
import type { Store } from '../store/store.ts';
import type { KeyHolder, Registry } from '../workspace/workspace.ts';
import { crossOriginHeaders, holderOf, permit, preflight, proveUser } from './admit.ts';
import { createRates } from './rate.ts';
import { createRefusalLog } from './refusal-log.ts';

export interface GateOptions {
  routes: readonly Route[];
  registry: () => Registry;
  store: Store;
  now: () => number;
  log: Log;
  metricsOf: (route: Route) => RouteMetrics;
}

/** How a request went through, for the metrics. */
export interface Passage {
  route: Route | null;
  reply: Reply;
}

/** `/cdi/integrations/orders/sync` as `/cdi/integrations/{integration_id}/sync`, and what stands for the braces. */
const templateOf = (path: string): { path: string; parameter: string } => {
  const [, before, encoded = '', after] = /^(\/cdi\/integrations\/)([^/]+)(\/.+)$/.exec(path) ?? [];
  if (before === undefined) return { path, parameter: '' };
  const parameter = decoded(encoded);
  return { path: `${before}{integration_id}${after}`, parameter };
};

/** What is no percent-encoding stands for itself. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/**
 * What stands before every route, cheap and secret-safe checks first: route, method, key, permission, feature, rate of
 * the workspace, content type, size, JSON, proof of the user, rate of the user. The shape is the route's own.
 */
export const createGate = ({ routes, registry, store, now, log, metricsOf }: GateOptions) => {
  const byPath = new Map(
    routes.map((route) => [
      route.path,
      {
        route,
        metrics: metricsOf(route),
        open: { ...JSON_HEADERS, ...crossOriginHeaders(route) },
        // Each has a line of its own: what comes with a client key keeps no backend waiting.
        turnOf: createLargeBodies(),
        heldBy: createHeldBodies(),
      },
    ]),
  );

  const rates = createRates(store);
  const logRefusal = createRefusalLog(log);

  return async (exchange: Exchange): Promise<Passage> => {
    const { path, parameter } = byPath.has(exchange.path)
      ? { path: exchange.path, parameter: '' }
      : templateOf(exchange.path);
    const found = byPath.get(path);
    if (!found) {
      return { route: null, reply: refusalOf(new HttpError(404, FATAL.notFound), 'general', log, {}) };
    }
    const { route, metrics, open, turnOf, heldBy } = found;
    if (route.crossOrigin && exchange.method === 'OPTIONS') return { route, reply: preflight(route) };
    let headers = open;
    let holder: KeyHolder | undefined;
    let time = now();
    const turn = turnOf();
    const held = heldBy();
    try {
      const isRead = route.method === 'GET' && exchange.method === 'HEAD';
      if (exchange.method !== route.method && !isRead) {
        const allowed = route.method === 'GET' ? ['GET', 'HEAD'] : [route.method];
        if (route.crossOrigin) allowed.push('OPTIONS');
        throw new HttpError(405, FATAL.methodNotAllowed, { headers: { Allow: allowed.join(', ') } });
      }
      holder = holderOf(exchange.header('authorization'), registry());
      permit(holder, route);
      const { workspace, key } = holder;
      if (route.crossOrigin && !workspace.bannersEnabled) throw new HttpError(404, FATAL.notFound);
      headers = { ...open, ...(await rates.ofWorkspace(workspace, route, time)) };
      const body = route.maxBodyBytes > 0 ? await readJson(exchange, route, turn, held) : undefined;
      // A slow body may have taken a minute: from here on it counts when the request was complete.
      time = now();
      // First the proof: no client can use up the limit of another user.
      if (route.crossOrigin && workspace.userTokens.size > 0) await proveUser(workspace, body, time);
      headers = { ...headers, ...rates.ofUser(workspace, route, body, time) };
      await rates.ofVisitors(workspace, route, body, time);
      const query = new URLSearchParams(exchange.search);
      const answer = await route.answer({
        workspace,
        key,
        store,
        query,
        parameter,
        body,
        acceptLanguage: exchange.header('accept-language') ?? '',
        now: time,
        metrics,
      });
      return { route, reply: replyOf(answer, headers) };
    } catch (error) {
      if (error instanceof HttpError) logRefusal(error, route, holder, time);
      return { route, reply: refusalOf(error, route.errors, log, { path: route.path }, headers) };
    } finally {
      turn.leave();
      held.leave();
    }
  };
};
