import { includesRole, type Role } from '../../protocol/index.ts';
import {
  type Call,
  createFetch,
  createRouter,
  HttpError,
  type HttpRequest,
  type HttpResponse,
  type Log,
  type ReleaseSource,
  type Service,
  type Store,
  silentLog,
} from '../../service/index.ts';
import { POLL_HEADER } from '../poll-header.ts';
import { createOpenId } from './open-id.ts';
import { createPages } from './pages.ts';
import { rejectUnstorable, type SignInRoute, type StudioRoute } from './route.ts';
import { createStudioRoutes } from './routes/routes.ts';
import { createSessions, type OpenSession } from './sessions.ts';
import { createSignInRoutes } from './sign-in.ts';

/** Hosts that DNS rebinding cannot use: `localhost` and IP addresses. */
const UNNAMED = /^(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])(?::\d+)?$/i;

/**
 * Returns the Studio's origin: its public URL or, if not set, the `Host`, which must be `localhost` or an IP address because DNS
 * rebinding could resolve any other name to this server.
 */
const ownOrigin = (request: HttpRequest, publicUrl: string | null): string | null => {
  if (publicUrl !== null) return publicUrl;
  const host = request.header('host') ?? '';
  return UNNAMED.test(host) ? `http://${host}` : null;
};

/** Returns whether a state-changing request comes from the Studio's own origin, by `Origin` and `Sec-Fetch-Site`. */
const isFromOwnPage = (request: HttpRequest, origin: string): boolean => {
  const site = request.header('sec-fetch-site');
  return request.header('origin') === origin && (site === undefined || site === 'same-origin');
};

export interface StudioOptions {
  /** Release source, shared with the service. The Studio refreshes it after publishing. */
  workspaces: ReleaseSource;
  store: Store;
  service: Pick<Service, 'missingSelectors'>;
  /** Folder of the built pages; `null` serves only the API. */
  pages: string | null;
  /** Public URL, for example `https://studio.example`. Default: the address it listens on. */
  publicUrl?: string;
  /** Public URL of the service, for example `https://api.example`, which serves uploaded images; `null` disables uploads. */
  serviceUrl: string | null;
  now?: () => number;
  log?: Log;
}

export interface Studio {
  handle(exchange: HttpRequest): Promise<HttpResponse>;
  /** Handles a Fetch API `Request`. */
  fetch(request: Request): Promise<Response>;
}

const JSON_HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy': "default-src 'none'",
};

/** HSTS for one year. */
const OVER_TLS = { 'Strict-Transport-Security': 'max-age=31536000' };

const isWrite = (method: string) => method !== 'GET' && method !== 'HEAD';

/** Returns the revision in `If-Match: "…"`. */
const revisionIn = (header: string | undefined): string | null =>
  /^"([^"]{1,100})"$/.exec(header ?? '')?.[1] ?? null;

/** Creates the Studio with its pages and their API. */
export const createStudio = ({
  workspaces,
  store,
  service,
  pages,
  publicUrl,
  serviceUrl,
  now = Date.now,
  log = silentLog,
}: StudioOptions): Studio => {
  const { studio } = store;
  const page = pages === null ? () => null : createPages(pages);
  const sessions = createSessions({ studio, registry: workspaces.registry, now });
  const openId = createOpenId({ registry: workspaces.registry, log });
  const configured = publicUrl === undefined ? null : new URL(publicUrl).origin;

  /** Returns the origin of the request. Throws a 403 if a state-changing request comes from another origin. */
  const admittedOrigin = (request: HttpRequest): string => {
    const origin = ownOrigin(request, configured);
    if (origin === null)
      throw new HttpError(421, 'Unexpected Host header. Set the address of the Studio with --studio-url');
    if (isWrite(request.method) && !isFromOwnPage(request, origin)) {
      throw new HttpError(403, 'The request is from another site');
    }
    return origin;
  };

  /** Returns the session of the request if its operator has the route's role. Throws a 401 or a 403. */
  const admittedSession = async (
    request: HttpRequest,
    role: Role,
    isSecure: boolean,
  ): Promise<OpenSession> => {
    const session = await sessions.of(request.header('cookie'), {
      isSecure,
      isPoll: request.header(POLL_HEADER) !== undefined,
    });
    if (!session) throw new HttpError(401, 'Sign in first');
    const { operator } = session;
    if (includesRole(operator.role, role)) return session;
    throw new HttpError(403, `Requires role "${role}" (you have "${operator.role}")`);
  };

  const serve = async ({ request, endpoint: route, params, readJson }: Call<StudioRoute | SignInRoute>) => {
    const origin = admittedOrigin(request);
    if (route.role === null) {
      return route.handle({ request, body: route.body?.read(await readJson()), origin });
    }
    const isSecure = origin.startsWith('https:');
    const { operator, workspace, sessionId } = await admittedSession(request, route.role, isSecure);
    const query = new URLSearchParams(request.search);
    // Checks the pairs one by one, because names can repeat.
    for (const sent of [params, ...Array.from(query, (pair) => Object.fromEntries([pair]))])
      rejectUnstorable(sent);
    const body = route.body?.read(await readJson());
    const auditEntry = (action: string, subject: string, details = '') => ({
      workspaceId: workspace.workspaceId,
      atMs: now(),
      operator: operator.name,
      action,
      subject,
      details,
    });
    return route.handle({
      operator,
      sessionId,
      workspace,
      studio,
      store,
      params,
      query,
      body,
      ifMatch: revisionIn(request.header('if-match')),
      nowMs: now(),
      missingSelectors: service.missingSelectors,
      serviceUrl,
      auditEntry,
      audit: (...entry) => studio.addAudit(auditEntry(...entry)),
      refresh: workspaces.refresh,
      endedCookie: sessions.ended(isSecure),
    });
  };

  const routes = createRouter<StudioRoute | SignInRoute>({
    endpoints: [...createSignInRoutes({ sessions, openId, store, now, log }), ...createStudioRoutes()],
    headers: JSON_HEADERS,
    errorFormat: 'track',
    serve,
    log,
  });

  const handle = async (request: HttpRequest): Promise<HttpResponse> => {
    const origin = ownOrigin(request, configured);
    const shown = origin === null || routes.has(request.path) ? null : page(request.method, request.path);
    const response = shown ?? (await routes.handle(request)).response;
    return origin?.startsWith('https:')
      ? { ...response, headers: { ...response.headers, ...OVER_TLS } }
      : response;
  };

  return {
    handle,
    fetch: createFetch(handle),
  };
};
