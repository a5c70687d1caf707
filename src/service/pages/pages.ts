import { hash, timingSafeEqual } from 'node:crypto';
import type { Route } from '../gate/route.ts';
import { type Call, createDispatcher, type Endpoint } from '../http/dispatch.ts';
import { type Answer, HttpError, JSON_HEADERS } from '../http/exchange.ts';
import { inTime } from '../in-time.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Store } from '../store/store.ts';
import { docsPage } from './docs-page.ts';
import { openApi } from './openapi.ts';
import { createPictures, PICTURES_PATH } from './pictures.ts';

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

/** A page about the service, or a picture that it keeps, which anybody may read. */
interface Page extends Endpoint {
  answer(call: Call<Page>): Answer | Promise<Answer>;
}

const pinged = async (store: Store): Promise<boolean> =>
  (await inTime(
    store.ping().then(() => true),
    PING_MS,
  )) ?? false;

/** Compares digests: the time that it takes gives nothing away. */
const isToken = (authorization: string | undefined, token: string): boolean =>
  timingSafeEqual(hash('sha256', authorization ?? '', 'buffer'), hash('sha256', `Bearer ${token}`, 'buffer'));

/** What is read without a key. */
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
  const pictureOf = createPictures(store, now);
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
      page('/metrics', async ({ exchange }) => {
        if (metricsToken !== undefined && !isToken(exchange.header('authorization'), metricsToken)) {
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
      page(`${PICTURES_PATH}/{file}`, ({ params }) => pictureOf(params['file']!)),
    ],
    headers: JSON_HEADERS,
    errors: 'general',
    serve: async (call) => call.endpoint.answer(call),
    log,
  });
};
