import { hash, timingSafeEqual } from 'node:crypto';
import { FATAL } from '../../protocol/index.ts';
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

const toBytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** Calls `make` at the first call: most processes serve neither page. */
const once = <T>(make: () => T): (() => T) => {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
};

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
  const describe = once(() => openApi(routes));
  const description = once(() => toBytes(JSON.stringify(describe())));
  const docs = once(() => {
    const { text, ...answer } = docsPage(describe());
    return { ...answer, shared: toBytes(text) };
  });
  let collecting: Promise<string> | undefined;
  const metricsText = () => {
    // Without a token anybody may be reading: they learn of no workspace.
    collecting ??= metrics
      .text(metricsToken === undefined ? [] : workspaceIds(), store, now())
      .finally(() => {
        collecting = undefined;
      });
    return collecting;
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
      page('/', () => {
        const errors = [{ type: 'There is no page at /: the API is described at /docs' }];
        throw new HttpError(404, FATAL.notFound, { members: { errors } });
      }),
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
        const headers = { 'Content-Type': metrics.contentType };
        return { status: 200, headers, text: await metricsText() };
      }),
      // Tools of other origins may read the description; it holds nothing that the documentation does not.
      page('/openapi.json', () => ({
        status: 200,
        shared: description(),
        headers: { 'Access-Control-Allow-Origin': '*' },
      })),
      page('/docs', docs),
      page(`${PICTURES_PATH}/{file}`, ({ params }) => pictureOf(params['file']!)),
    ],
    headers: JSON_HEADERS,
    errors: 'general',
    serve: async (call) => call.endpoint.answer(call),
    log,
  });
};
