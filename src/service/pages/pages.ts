import { hash, timingSafeEqual } from 'node:crypto';
import type { Route } from '../gate/route.ts';
import { createDispatcher, type Endpoint } from '../http/dispatch.ts';
import { type Answer, type Exchange, HttpError, JSON_HEADERS } from '../http/exchange.ts';
import { inTime } from '../in-time.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Store } from '../store/store.ts';
import { docsPage } from './docs-page.ts';
import { openApi } from './openapi.ts';

/** Longer than this a store that does not answer counts as away. */
const PING_MS = 2_000;

interface PagesOptions {
  routes: readonly Route[];
  store: Store;
  metrics: Metrics;
  log: Log;
  now: () => number;
  metricsToken: string | undefined;
  workspaceIds: () => string[];
  isDraining: () => boolean;
}

/** A page about the service, which anybody may read. */
interface Page extends Endpoint {
  answer(exchange: Exchange): Answer | Promise<Answer>;
}

const pinged = async (store: Store): Promise<boolean> =>
  (await inTime(
    store.ping().then(() => true),
    PING_MS,
  )) ?? false;

/** Compares digests: the time that it takes gives nothing away. */
const isToken = (authorization: string | undefined, token: string): boolean =>
  timingSafeEqual(hash('sha256', authorization ?? '', 'buffer'), hash('sha256', `Bearer ${token}`, 'buffer'));

/** Pages about the service, without a key. */
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
  const page = (path: string, answer: Page['answer']): Page => ({
    method: 'GET',
    path,
    request: null,
    answer,
  });

  return createDispatcher({
    endpoints: [
      page('/healthz', () => ({ status: 200, body: { status: 'ok' } })),
      page('/readyz', async () => {
        if (isDraining()) return { status: 503, body: { status: 'draining' } };
        if (await pinged(store)) return { status: 200, body: { status: 'ready' } };
        return { status: 503, body: { status: 'store not ready' } };
      }),
      page('/metrics', async ({ header }) => {
        if (metricsToken !== undefined && !isToken(header('authorization'), metricsToken)) {
          throw new HttpError(401, 'Invalid metrics token', { headers: { 'WWW-Authenticate': 'Bearer' } });
        }
        // Without a token anybody may be reading: they learn of no workspace.
        const text = await metrics.text(metricsToken === undefined ? [] : workspaceIds(), store, now());
        return { status: 200, headers: { 'Content-Type': metrics.contentType }, text };
      }),
      // Tools of other origins may read the description; it holds nothing that the documentation does not.
      page('/openapi.json', () => ({
        status: 200,
        body: described(),
        headers: { 'Access-Control-Allow-Origin': '*' },
      })),
      page('/docs', () => docsPage(described())),
    ],
    headers: JSON_HEADERS,
    errors: 'general',
    serve: async ({ endpoint, exchange }) => endpoint.answer(exchange),
    log,
  });
};
