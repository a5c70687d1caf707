import { ANY_ORIGIN, type ErrorDialect, errorBody, FATAL, preflightHeaders } from '../../protocol/index.ts';
import { createOnceAMinute, errorFacts, type Log } from '../log.ts';
import { InDoubtError, RetryLaterError } from '../store/write-errors.ts';
import { createHeldBodies, createLargeBodies, type RequestBody, readJson } from './body.ts';
import { type Answer, type Exchange, HttpError, notNow, type Reply } from './exchange.ts';

/** What every endpoint has: one of the API, one of the Studio, and a page about the service. */
export interface Endpoint<Body = unknown> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** A part in braces, such as `{integration_id}`, stands for any text. */
  path: string;
  /** `null` where it takes no body. */
  request: RequestBody<Body> | null;
  /** Pages of other origins may call it: preflights are answered. */
  crossOrigin?: boolean;
  /** Which members a refusal has. Default: those of the dispatcher. */
  errors?: ErrorDialect;
}

export type Params = Readonly<Record<string, string>>;

/** A request whose endpoint is found. */
export interface Call<E extends Endpoint> {
  exchange: Exchange;
  endpoint: E;
  /** What the path has for the parts in braces, by their names. */
  params: Params;
  /** The headers of the answer, also where it is a refusal. `serve` may put others in their place. */
  headers: Readonly<Record<string, string>>;
  /** Reads the body as JSON, to be called once; `undefined` where the endpoint takes none. */
  readJson(): Promise<unknown>;
}

/** An endpoint with the lines in which its bodies wait. */
interface Served<E extends Endpoint> {
  endpoint: E;
  turnOf: ReturnType<typeof createLargeBodies>;
  heldBy: ReturnType<typeof createHeldBodies>;
}

interface DispatcherOptions<E extends Endpoint> {
  endpoints: readonly E[];
  /** The headers of every answer. An answer may replace them. */
  headers: Readonly<Record<string, string>>;
  /** Which members a refusal has, where its endpoint names no others. */
  errors: ErrorDialect;
  /** Admits the request, reads its body and answers. Throws an `HttpError` to refuse it; `refuse` says what becomes of anything else. */
  serve(call: Call<E>): Promise<Answer>;
  log: Log;
}

/** How long a browser may remember a preflight, in seconds; Chromium's own cap. */
const PREFLIGHT_SECONDS = 7_200;

const preflight = ({ method }: Endpoint, { header }: Exchange): Reply => ({
  status: 204,
  headers: {
    ...preflightHeaders(method, header('access-control-request-headers')),
    'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
  },
  body: '',
});

const NO_PARAMS: Params = {};

/** Reads the parts of a path that stand for braces: `null` where the path is another. */
const matcherOf = (template: string) => {
  const names = template.split('/').map((part) => ({ part, name: /^\{(\w+)\}$/.exec(part)?.[1] }));
  return (path: string): Params | null => {
    const parts = path.split('/');
    if (parts.length !== names.length) return null;
    const params: Record<string, string> = {};
    for (const [index, { part, name }] of names.entries()) {
      const sent = parts[index]!;
      if (name === undefined ? sent !== part : sent === '') return null;
      try {
        if (name !== undefined) params[name] = decodeURIComponent(sent);
      } catch {
        // A percent sign that begins nothing: no path of ours.
        return null;
      }
    }
    return params;
  };
};

const contentOf = (answer: Answer): Reply['body'] => {
  if ('parts' in answer) return answer.parts;
  if ('shared' in answer) return answer.shared;
  return 'text' in answer ? answer.text : JSON.stringify(answer.body);
};

const replyOf = (answer: Answer, headers: Record<string, string>): Reply => ({
  status: answer.status,
  headers: answer.headers ? { ...headers, ...answer.headers } : headers,
  body: contentOf(answer),
});

/** Leads each request to the endpoint of its path and method. Every failure on the way becomes an answer here, and only here. */
export const createDispatcher = <E extends Endpoint>({
  endpoints,
  headers,
  errors,
  serve,
  log,
}: DispatcherOptions<E>) => {
  const placeOf = (path: string) => {
    const here = endpoints.filter((endpoint) => endpoint.path === path);
    const methods = here.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    return {
      match: matcherOf(path),
      first: here[0]!,
      open: here[0]!.crossOrigin ? { ...headers, ...ANY_ORIGIN } : headers,
      allow: [...methods, ...(here[0]!.crossOrigin ? ['OPTIONS'] : [])].join(', '),
      byMethod: new Map<string, Served<E>>(
        here.map((endpoint) => [
          endpoint.method,
          {
            endpoint,
            // Each endpoint has a line of its own, so that bodies of pages keep no backend waiting.
            turnOf: createLargeBodies(),
            heldBy: createHeldBodies(),
          },
        ]),
      ),
    };
  };
  const exact = new Map<string, ReturnType<typeof placeOf>>();
  const templates: ReturnType<typeof placeOf>[] = [];
  for (const path of new Set(endpoints.map((endpoint) => endpoint.path))) {
    if (path.includes('{')) templates.push(placeOf(path));
    else exact.set(path, placeOf(path));
  }

  const find = (path: string) => {
    const place = exact.get(path);
    if (place) return { place, params: NO_PARAMS };
    for (const template of templates) {
      const params = template.match(path);
      if (params) return { place: template, params };
    }
    return undefined;
  };

  const isDue = createOnceAMinute();
  /** Refuses a write that may go through later, and logs what stood in its way, once a minute for each cause. */
  const putOff = (error: RetryLaterError, { requestId }: Exchange, endpoint: E | null): HttpError => {
    const facts = { path: endpoint?.path, ...errorFacts(error) };
    if (isDue(JSON.stringify(facts), performance.now()))
      log.warn({ request_id: requestId, ...facts }, 'requests put off');
    return notNow(FATAL.unavailable);
  };

  /**
   * A failure that is no `HttpError` becomes a plain 500: nothing was stored. Where the same may go through later it becomes a 503, and
   * where it is not known whether it was stored a 504.
   */
  const refuse = (
    error: unknown,
    exchange: Exchange,
    endpoint: E | null,
    withHeaders: Record<string, string>,
  ): Reply => {
    const dialect = endpoint?.errors ?? errors;
    const refusal = error instanceof RetryLaterError ? putOff(error, exchange, endpoint) : error;
    if (refusal instanceof HttpError) {
      const { status, message, members, headers: own } = refusal;
      return replyOf(
        { status, headers: own, body: { ...errorBody(dialect, message), ...members } },
        withHeaders,
      );
    }
    log.error(
      { request_id: exchange.requestId, path: endpoint?.path, ...errorFacts(error) },
      'request failed',
    );
    const [status, message] = error instanceof InDoubtError ? [504, FATAL.inDoubt] : [500, FATAL.internal];
    return replyOf({ status, body: errorBody(dialect, message) }, withHeaders);
  };

  return {
    has: (path: string): boolean => find(path) !== undefined,

    /** Answers a request; `endpoint` is the one of its path, `null` where there is none. */
    async handle(exchange: Exchange): Promise<{ endpoint: E | null; reply: Reply }> {
      const found = find(exchange.path);
      if (!found) {
        const missing = new HttpError(404, FATAL.notFound);
        return { endpoint: null, reply: refuse(missing, exchange, null, headers) };
      }
      const { place, params } = found;
      const { first, open, allow, byMethod } = place;
      if (first.crossOrigin && exchange.method === 'OPTIONS')
        return { endpoint: first, reply: preflight(first, exchange) };
      const served = byMethod.get(exchange.method === 'HEAD' ? 'GET' : exchange.method);
      if (!served) {
        const refusal = new HttpError(405, FATAL.methodNotAllowed, { headers: { Allow: allow } });
        return { endpoint: first, reply: refuse(refusal, exchange, first, open) };
      }
      const { endpoint, turnOf, heldBy } = served;
      const turn = turnOf();
      const held = heldBy();
      const call: Call<E> = {
        exchange,
        endpoint,
        params,
        headers: open,
        readJson: async () =>
          endpoint.request ? readJson(exchange, endpoint.request.bounds, turn, held) : undefined,
      };
      try {
        const answer = await serve(call);
        return { endpoint, reply: replyOf(answer, call.headers) };
      } catch (error) {
        return { endpoint, reply: refuse(error, exchange, endpoint, call.headers) };
      } finally {
        turn.leave();
        held.leave();
      }
    },
  };
};
