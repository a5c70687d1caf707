import { hash, timingSafeEqual } from 'node:crypto';
import { FATAL } from '../../protocol/index.ts';
import type { Exchange, Reply } from '../http/exchange.ts';
import { HttpError, JSON_HEADERS, refusalOf, replyOf } from '../http/exchange.ts';
import { inTime } from '../in-time.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Route } from '../route.ts';
import type { Store } from '../store/store.ts';
import { docsPage } from './docs-page.ts';
import { openApi } from './openapi.ts';

/** Longer than this a store that does not answer counts as away. */
const PING_MS = 2_000;

export interface PagesOptions {
  routes: readonly Route[];
  store: Store;
  metrics: Metrics;
  log: Log;
  now: () => number;
  metricsToken: string | undefined;
  workspaceIds: () => string[];
  isDraining: () => boolean;
}

type Page = (exchange: Exchange) => Reply | Promise<Reply>;

const pinged = async (store: Store): Promise<boolean> =>
  (await inTime(
    store.ping().then(() => true),
    PING_MS,
  )) ?? false;

/** Compares digests: the time that it takes gives nothing away. */
const isToken = (authorization: string | undefined, token: string): boolean =>
  timingSafeEqual(hash('sha256', authorization ?? '', 'buffer'), hash('sha256', `Bearer ${token}`, 'buffer'));

/** Pages about the service, without a key. Returns `undefined` for a path that is none of these. */
export const createPages = ({
  routes,
  store,
  metrics,
  log,
  now,
  metricsToken,
  workspaceIds,
  isDraining,
}: PagesOptions) => {
  // Made with the first request for it: most processes get none.
  let description: Record<string, unknown> | undefined;
  const described = () => {
    description ??= openApi(routes);
    return description;
  };

  const pages = new Map<string, Page>([
    ['/healthz', () => replyOf({ status: 200, body: { status: 'ok' } })],
    [
      '/readyz',
      async () => {
        if (isDraining()) return replyOf({ status: 503, body: { status: 'draining' } });
        if (await pinged(store)) return replyOf({ status: 200, body: { status: 'ready' } });
        return replyOf({ status: 503, body: { status: 'store not ready' } });
      },
    ],
    [
      '/metrics',
      async ({ header }) => {
        if (metricsToken !== undefined && !isToken(header('authorization'), metricsToken)) {
          throw new HttpError(401, 'Invalid metrics token', { headers: { 'WWW-Authenticate': 'Bearer' } });
        }
        // Without a token anybody may be reading: they learn of no workspace.
        const body = await metrics.text(metricsToken === undefined ? [] : workspaceIds(), store, now());
        return { status: 200, headers: { ...JSON_HEADERS, 'Content-Type': metrics.contentType }, body };
      },
    ],
    // Tools of other origins may read the description; it holds nothing that the documentation does not.
    [
      '/openapi.json',
      () => replyOf({ status: 200, body: described(), headers: { 'Access-Control-Allow-Origin': '*' } }),
    ],
    ['/docs', () => docsPage(described())],
  ]);

  return (exchange: Exchange): Promise<Reply> | undefined => {
    const { path, method } = exchange;
    const page = pages.get(path);
    if (!page) return undefined;
    const show = async () => {
      if (method === 'GET' || method === 'HEAD') return page(exchange);
      throw new HttpError(405, FATAL.methodNotAllowed, { headers: { Allow: 'GET, HEAD' } });
    };
    return show().catch((error: unknown) => refusalOf(error, 'general', log, { path }));
  };
};
