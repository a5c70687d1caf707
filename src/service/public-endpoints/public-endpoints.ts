import { hash, timingSafeEqual } from 'node:crypto';
import { ERROR_MESSAGES } from '../../protocol/index.ts';
import type { Route } from '../api/route.ts';
import { type HandlerResult, HttpError, JSON_HEADERS } from '../http/http-request.ts';
import { type Call, createRouter, type Endpoint } from '../http/router.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Store } from '../store/store.ts';
import { withTimeout } from '../with-timeout.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { docsPage } from './docs-page.ts';
import { createImages, IMAGES_PATH } from './images.ts';
import { openApi } from './openapi.ts';

/** Maximum response time of an available store. */
const PING_MS = 2_000;

interface PublicEndpointsOptions {
  routes: readonly Route[];
  store: Store;
  metrics: Metrics;
  log: Log;
  now: () => number;
  metricsToken: string | undefined;
  workspaces: () => readonly Workspace[];
  isDraining: () => boolean;
}

/** Public page or image. */
interface PublicEndpoint extends Endpoint {
  handler(call: Call<PublicEndpoint>): HandlerResult | Promise<HandlerResult>;
}

const isReachable = async (store: Store): Promise<boolean> =>
  (await withTimeout(
    store.ping().then(() => true),
    PING_MS,
  )) ?? false;

/** Returns whether the header contains the token. Compares digests, so that timing reveals nothing about the token. */
const isToken = (authorization: string | undefined, token: string): boolean =>
  timingSafeEqual(hash('sha256', authorization ?? '', 'buffer'), hash('sha256', `Bearer ${token}`, 'buffer'));

const toBytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** Calls `make` on first use, because most processes serve neither page. */
const once = <T>(make: () => T): (() => T) => {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
};

/** Creates the endpoints that need no key. */
export const createPublicEndpoints = ({
  routes,
  store,
  metrics,
  log,
  now,
  metricsToken,
  workspaces,
  isDraining,
}: PublicEndpointsOptions) => {
  const describe = once(() => openApi(routes));
  const description = once(() => toBytes(JSON.stringify(describe())));
  const docs = once(() => {
    const { text, ...response } = docsPage(describe());
    return { ...response, shared: toBytes(text) };
  });
  let collecting: Promise<string> | undefined;
  const metricsText = () => {
    collecting ??= metrics
      .text({ workspaces: workspaces(), store, nowMs: now(), isPrivate: metricsToken !== undefined })
      .finally(() => {
        collecting = undefined;
      });
    return collecting;
  };
  const serveImage = createImages(store, now);
  const page = (path: string, handler: PublicEndpoint['handler']): PublicEndpoint => ({
    method: 'GET',
    path,
    body: null,
    handler,
  });

  return createRouter({
    endpoints: [
      page('/', () => {
        const errors = [{ type: 'There is no page at /: the API is described at /docs' }];
        throw new HttpError(404, ERROR_MESSAGES.notFound, { members: { errors } });
      }),
      page('/healthz', () => ({ status: 200, body: { status: 'ok' } })),
      page('/readyz', async () => {
        if (isDraining()) return { status: 503, body: { status: 'draining' } };
        if (await isReachable(store)) return { status: 200, body: { status: 'ready' } };
        return { status: 503, body: { status: 'store not ready' } };
      }),
      page('/metrics', async ({ request }) => {
        if (metricsToken !== undefined && !isToken(request.header('authorization'), metricsToken)) {
          throw new HttpError(401, 'Invalid metrics token', { headers: { 'WWW-Authenticate': 'Bearer' } });
        }
        const headers = { 'Content-Type': metrics.contentType };
        return { status: 200, headers, text: await metricsText() };
      }),
      // Tools of other origins may read the API description, because it is public like the documentation.
      page('/openapi.json', () => ({
        status: 200,
        shared: description(),
        headers: { 'Access-Control-Allow-Origin': '*' },
      })),
      page('/docs', docs),
      page(`${IMAGES_PATH}/{file}`, ({ params }) => serveImage(params['file']!)),
    ],
    headers: JSON_HEADERS,
    errorFormat: 'general',
    serve: async (call) => call.endpoint.handler(call),
    log,
  });
};
