import {
  ANY_ORIGIN,
  ERROR_MESSAGES,
  type ErrorFormat,
  errorBody,
  preflightHeaders,
} from '../../protocol/index.ts';
import { createLogThrottle, type Log, serializeError } from '../log.ts';
import { InDoubtError, TransientError } from '../store/write-errors.ts';
import { createBodyMemoryBudget, createBodySemaphore, type RequestBody, readJson } from './body.ts';
import {
  type HandlerResult,
  HttpError,
  type HttpRequest,
  type HttpResponse,
  serviceUnavailable,
} from './http-request.ts';

/** Endpoint of the API, the Studio, or a public page. */
export interface Endpoint<Body = unknown> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** A parameter in braces, such as `{integration_id}`, matches one segment. */
  path: string;
  /** `null` if the endpoint accepts no body. */
  body: RequestBody<Body> | null;
  /** Whether pages of other origins may call the endpoint. Enables preflight responses. */
  crossOrigin?: boolean;
  /** Format of error bodies. Default: the router's. */
  errorFormat?: ErrorFormat;
}

export type Params = Readonly<Record<string, string>>;

/** Request with a matching endpoint. */
export interface Call<E extends Endpoint> {
  request: HttpRequest;
  endpoint: E;
  /** Path parameters by name. */
  params: Params;
  /** Response headers, also for errors. `serve` may replace them. */
  headers: Readonly<Record<string, string>>;
  /** Reads the body as JSON. Call once. Returns `undefined` if the endpoint accepts none. */
  readJson(): Promise<unknown>;
}

/** Endpoint with its body limits. */
interface RouteEntry<E extends Endpoint> {
  endpoint: E;
  createPermit: ReturnType<typeof createBodySemaphore>;
  createReservation: ReturnType<typeof createBodyMemoryBudget>;
}

interface RouterOptions<E extends Endpoint> {
  endpoints: readonly E[];
  /** Headers of every response, which a response may override. */
  headers: Readonly<Record<string, string>>;
  /** Default format of error bodies. */
  errorFormat: ErrorFormat;
  /** Authorizes the request, reads its body and responds. Throws an `HttpError` to reject it. */
  serve(call: Call<E>): Promise<HandlerResult>;
  log: Log;
}

/** `Access-Control-Max-Age` in seconds, Chromium's maximum. */
const PREFLIGHT_SECONDS = 7_200;

const preflight = ({ method }: Endpoint, { header }: HttpRequest): HttpResponse => ({
  status: 204,
  headers: {
    ...preflightHeaders(method, header('access-control-request-headers')),
    'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
  },
  body: '',
});

const NO_PARAMS: Params = {};

/** Returns a matcher of path parameters. The matcher returns `null` if the path does not match. */
const compilePath = (template: string) => {
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
        // Malformed percent-encoding does not match.
        return null;
      }
    }
    return params;
  };
};

const toBody = (result: HandlerResult): HttpResponse['body'] => {
  if ('parts' in result) return result.parts;
  if ('shared' in result) return result.shared;
  return 'text' in result ? result.text : JSON.stringify(result.body);
};

const toResponse = (result: HandlerResult, headers: Record<string, string>): HttpResponse => ({
  status: result.status,
  headers: result.headers ? { ...headers, ...result.headers } : headers,
  body: toBody(result),
});

/** Routes each request by path and method, and converts all errors to responses. */
export const createRouter = <E extends Endpoint>({
  endpoints,
  headers,
  errorFormat,
  serve,
  log,
}: RouterOptions<E>) => {
  const buildPath = (path: string) => {
    const atPath = endpoints.filter((endpoint) => endpoint.path === path);
    const methods = atPath.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    return {
      match: compilePath(path),
      /** Endpoint for errors that concern no method. */
      firstEndpoint: atPath[0]!,
      corsHeaders: atPath[0]!.crossOrigin ? { ...headers, ...ANY_ORIGIN } : headers,
      allowHeader: [...methods, ...(atPath[0]!.crossOrigin ? ['OPTIONS'] : [])].join(', '),
      byMethod: new Map<string, RouteEntry<E>>(
        atPath.map((endpoint) => [
          endpoint.method,
          {
            endpoint,
            // Each endpoint has its own limits, so that bodies from browsers do not delay backends.
            createPermit: createBodySemaphore(),
            createReservation: createBodyMemoryBudget(),
          },
        ]),
      ),
    };
  };
  const exact = new Map<string, ReturnType<typeof buildPath>>();
  const templates: ReturnType<typeof buildPath>[] = [];
  for (const path of new Set(endpoints.map((endpoint) => endpoint.path))) {
    if (path.includes('{')) templates.push(buildPath(path));
    else exact.set(path, buildPath(path));
  }

  const find = (path: string) => {
    const matched = exact.get(path);
    if (matched) return { pathEntry: matched, params: NO_PARAMS };
    for (const template of templates) {
      const params = template.match(path);
      if (params) return { pathEntry: template, params };
    }
    return undefined;
  };

  const shouldLog = createLogThrottle();
  /** Returns the 503 of a write that may succeed later. Logs each cause at most once a minute. */
  const toServiceUnavailable = (
    error: TransientError,
    { requestId }: HttpRequest,
    endpoint: E | null,
  ): HttpError => {
    const fields = { path: endpoint?.path, ...serializeError(error) };
    if (shouldLog(JSON.stringify(fields), performance.now()))
      log.warn({ request_id: requestId, ...fields }, 'request failed: store unavailable');
    return serviceUnavailable(ERROR_MESSAGES.unavailable);
  };

  /**
   * Returns the response of a failed request: 503 if the same request may succeed later, 504 if the outcome of the write is
   * unknown, 500 for any other error that is not an `HttpError`.
   */
  const toErrorResponse = (
    error: unknown,
    request: HttpRequest,
    endpoint: E | null,
    withHeaders: Record<string, string>,
  ): HttpResponse => {
    const format = endpoint?.errorFormat ?? errorFormat;
    const known = error instanceof TransientError ? toServiceUnavailable(error, request, endpoint) : error;
    if (known instanceof HttpError) {
      const { status, message, members, headers: own } = known;
      return toResponse(
        { status, headers: own, body: { ...errorBody(format, message), ...members } },
        withHeaders,
      );
    }
    log.error(
      { request_id: request.requestId, path: endpoint?.path, ...serializeError(error) },
      'request failed',
    );
    const [status, message] =
      error instanceof InDoubtError ? [504, ERROR_MESSAGES.inDoubt] : [500, ERROR_MESSAGES.internal];
    return toResponse({ status, body: errorBody(format, message) }, withHeaders);
  };

  return {
    has: (path: string): boolean => find(path) !== undefined,

    /** Handles a request. `endpoint` is `null` if no endpoint has its path. */
    async handle(request: HttpRequest): Promise<{ endpoint: E | null; response: HttpResponse }> {
      const found = find(request.path);
      if (!found) {
        const missing = new HttpError(404, ERROR_MESSAGES.notFound);
        return { endpoint: null, response: toErrorResponse(missing, request, null, headers) };
      }
      const { pathEntry, params } = found;
      const { firstEndpoint, corsHeaders, allowHeader, byMethod } = pathEntry;
      if (firstEndpoint.crossOrigin && request.method === 'OPTIONS')
        return { endpoint: firstEndpoint, response: preflight(firstEndpoint, request) };
      const entry = byMethod.get(request.method === 'HEAD' ? 'GET' : request.method);
      if (!entry) {
        const error = new HttpError(405, ERROR_MESSAGES.methodNotAllowed, {
          headers: { Allow: allowHeader },
        });
        return {
          endpoint: firstEndpoint,
          response: toErrorResponse(error, request, firstEndpoint, corsHeaders),
        };
      }
      const { endpoint } = entry;
      const permit = entry.createPermit();
      const reservation = entry.createReservation();
      const call: Call<E> = {
        request,
        endpoint,
        params,
        headers: corsHeaders,
        readJson: async () =>
          endpoint.body ? readJson(request, endpoint.body.bounds, permit, reservation) : undefined,
      };
      try {
        return { endpoint, response: toResponse(await serve(call), call.headers) };
      } catch (error) {
        return { endpoint, response: toErrorResponse(error, request, endpoint, call.headers) };
      } finally {
        permit.release();
        reservation.release();
      }
    },
  };
};
