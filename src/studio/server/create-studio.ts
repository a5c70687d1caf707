import {
  createFetch,
  type Exchange,
  errorFacts,
  HttpError,
  type Log,
  type ReleasedSource,
  type Reply,
  type Store,
  silentLog,
} from '../../service/index.ts';
import { readJsonBody } from './body.ts';
import { createOpenId } from './open-id.ts';
import { createPages } from './pages.ts';
import type { StudioAnswer, StudioContext } from './route.ts';
import { createStudioRoutes } from './routes/routes.ts';
import { createSessions, may } from './sessions.ts';
import { createSignIn } from './sign-in.ts';

/** Names under which a browser reaches its own machine, or an address that no name can be made to lead to. */
const UNNAMED = /^(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])(?::\d+)?$/i;

/**
 * Where the Studio is reached: at its public URL where there is one. Without, a `Host` that is a name is refused: a page
 * could have its own name lead here, and act as if it were of the Studio.
 */
const ownOrigin = (exchange: Exchange, publicUrl: string | null): string | null => {
  if (publicUrl !== null) return publicUrl;
  const host = exchange.header('host') ?? '';
  return UNNAMED.test(host) ? `http://${host}` : null;
};

/** Whether a request that changes something comes from the Studio's own pages. Browsers say so on every such request. */
const isFromOwnPage = (exchange: Exchange, origin: string): boolean => {
  const site = exchange.header('sec-fetch-site');
  return exchange.header('origin') === origin && (site === undefined || site === 'same-origin');
};

/** `/api/drafts/:campaignId` as a function that reads a path's parts: `null` where the path is another. */
const matchPath = (pattern: string) => {
  const names = pattern.split('/');
  return (path: string): Record<string, string> | null => {
    const parts = path.split('/');
    if (parts.length !== names.length) return null;
    const params: Record<string, string> = {};
    for (const [index, name] of names.entries()) {
      const part = parts[index]!;
      if (!name.startsWith(':')) {
        if (part !== name) return null;
        continue;
      }
      try {
        params[name.slice(1)] = decodeURIComponent(part);
      } catch {
        // A percent sign that begins nothing: no path of ours.
        return null;
      }
    }
    return params;
  };
};

export interface StudioOptions {
  /** What the service beside it answers from: the Studio publishes into it. */
  workspaces: ReleasedSource;
  store: Store;
  /** The folder of the built pages; `null` serves the API alone. */
  pages: string | null;
  /** Where browsers reach it, for example `https://studio.example`. Default: the address it listens on. */
  publicUrl?: string;
  /** Where the secrets of identity providers' clients are. Default: the process's own. */
  env?: NodeJS.ProcessEnv;
  now?: () => number;
  log?: Log;
}

export interface Studio {
  handle(exchange: Exchange): Promise<Reply>;
  /** The same as a function of the platform's own `Request`. */
  fetch(request: Request): Promise<Response>;
}

const JSON_HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy': "default-src 'none'",
};

/** A browser that came over TLS once comes no other way for a year. */
const OVER_TLS = { 'Strict-Transport-Security': 'max-age=31536000' };

const replyOf = ({ status, body, text, headers }: StudioAnswer): Reply => ({
  status,
  headers: { ...JSON_HEADERS, ...headers },
  body: text ?? (body === undefined ? '' : JSON.stringify(body)),
});

const refused = (status: number, message: string): Reply => replyOf({ status, body: { message } });

const isWrite = (method: string) => method !== 'GET' && method !== 'HEAD';

/** The revision in `If-Match: "…"`. */
const revisionIn = (header: string | undefined): string | null =>
  /^"([^"]{1,100})"$/.exec(header ?? '')?.[1] ?? null;

/** The Studio: its pages, and what they ask. */
export const createStudio = ({
  workspaces,
  store,
  pages,
  publicUrl,
  env = process.env,
  now = Date.now,
  log = silentLog,
}: StudioOptions): Studio => {
  const { studio } = store;
  const page = pages === null ? () => null : createPages(pages);
  const sessions = createSessions({ studio, registry: workspaces.registry, now });
  const openId = createOpenId({ registry: workspaces.registry, env, log });
  const signIn = createSignIn({ sessions, openId, store, now, log });
  const routes = createStudioRoutes().map((route) => ({ route, match: matchPath(route.path) }));
  const configured = publicUrl === undefined ? null : new URL(publicUrl).origin;

  const api = async (exchange: Exchange, origin: string): Promise<Reply> => {
    const isSecure = origin.startsWith('https:');
    const { method, path } = exchange;
    const matching = routes.flatMap(({ route, match }) => {
      const params = match(path);
      return params ? [{ route, params }] : [];
    });
    const found = matching.find(({ route }) => route.method === method);
    if (!found) return refused(matching.length > 0 ? 405 : 404, 'There is nothing at this address');
    const session = await sessions.of(exchange.header('cookie'), isSecure);
    if (!session) return refused(401, 'Sign in first');
    const { operator, workspace, sessionId } = session;
    const { route, params } = found;
    if (!may(operator, route.role)) {
      return refused(403, `This needs the role "${route.role}", and you have "${operator.role}"`);
    }
    const body = isWrite(method) ? await readJsonBody(exchange) : undefined;
    const context: StudioContext = {
      operator,
      sessionId,
      workspace,
      studio,
      store,
      params,
      query: new URLSearchParams(exchange.search),
      body,
      ifMatch: revisionIn(exchange.header('if-match')),
      nowMs: now(),
      origin,
      audit: (action, subject, details = '') =>
        studio.addAudit({
          workspaceId: workspace.workspaceId,
          atMs: now(),
          operator: operator.name,
          action,
          subject,
          details,
        }),
      refresh: workspaces.refresh,
    };
    const answer = await route.answer(context);
    const headers = answer.endsSession
      ? { ...answer.headers, 'Set-Cookie': sessions.ended(isSecure) }
      : answer.headers;
    return replyOf({ ...answer, ...(headers && { headers }) });
  };

  const answer = async (exchange: Exchange, origin: string): Promise<Reply> => {
    try {
      if (isWrite(exchange.method) && !isFromOwnPage(exchange, origin)) {
        return refused(403, 'The request is from another site');
      }
      const withoutSession = await signIn(exchange, origin);
      if (withoutSession) return replyOf(withoutSession);
      return page(exchange.method, exchange.path) ?? (await api(exchange, origin));
    } catch (error) {
      if (error instanceof HttpError) {
        const { status, message, members, headers } = error;
        return replyOf({ status, body: { message, ...members }, ...(headers && { headers }) });
      }
      log.error({ path: exchange.path, ...errorFacts(error) }, 'Studio request failed');
      return refused(500, 'Something went wrong. Nothing was changed that is not shown.');
    }
  };

  const handle = async (exchange: Exchange): Promise<Reply> => {
    const origin = ownOrigin(exchange, configured);
    if (origin === null) return refused(421, 'Name the address of the Studio with --studio-url');
    const reply = await answer(exchange, origin);
    return origin.startsWith('https:') ? { ...reply, headers: { ...reply.headers, ...OVER_TLS } } : reply;
  };

  return {
    handle,
    fetch: createFetch(handle),
  };
};
