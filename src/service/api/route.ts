import type * as z from 'zod';
import {
  CLIENT_PERMISSIONS,
  ERROR_MESSAGES,
  type ErrorFormat,
  type LimitName,
  type Permission,
  type RateHeaderFormat,
} from '../../protocol/index.ts';
import type { BodyBounds, BodyReader, RequestBody } from '../http/body.ts';
import { type HandlerContent, HttpError } from '../http/http-request.ts';
import type { Endpoint, Params } from '../http/router.ts';
import type { Store } from '../store/store.ts';
import type { ApiKey, Workspace } from '../workspace/workspace.ts';

/** Metrics of one route. */
export interface RouteMetrics {
  /** Counts accepted objects, events or placements. */
  objects(kind: string, count: number): void;
  /** Counts an entry of `errors` by its code. */
  error(code: string): void;
}

/** Context of a request that passed the checks for key, permission, limits, query and body. */
export interface RouteContext<Body = unknown, Query = unknown> {
  workspace: Workspace;
  /** API key of the request. */
  key: ApiKey;
  store: Store;
  /** Parsed query; `undefined` if the route has no query schema. */
  query: Query;
  /** Path parameters by name. */
  params: Params;
  /** Parsed body; `undefined` if the route has none. */
  body: Body;
  /** Header `Accept-Language`, or `''`. */
  acceptLanguage: string;
  /** Header `User-Agent`, or `''`. */
  userAgent: string;
  /** Time of the request in Unix milliseconds. */
  now: number;
  metrics: RouteMetrics;
}

/** Documentation of a route in `/openapi.json` and `/docs`. */
export interface Operation {
  id: string;
  tag: 'Banners' | 'Users' | 'Campaigns' | 'Events' | 'Integrations' | 'Unmeasured';
  summary: string;
  description: string;
  example?: unknown;
  /** Description of the 400 response. Default: the route has no 400. */
  badRequest?: string;
  /** Description of the 404 response if the path exists. Default: the route has no 404. */
  notFound?: string;
  /** Descriptions of path parameters by name. */
  parameters?: Readonly<Record<string, string>>;
}

/** Endpoint of the API. Router, limits, metrics, OpenAPI, docs and test tables derive from it. */
export interface RouteDefinition<Body = unknown, Query = unknown> {
  /** Default `POST`. */
  method?: Endpoint['method'];
  path: string;
  /** Required permission of the key. Routes for client keys accept requests from any origin. */
  permission: Permission;
  limit: LimitName;
  /** Format of error bodies. Default `general`. */
  errorFormat?: ErrorFormat;
  /** Format of rate-limit headers. Default `banners` for client keys, `general` for server keys. */
  rateHeaderFormat?: RateHeaderFormat;
  /** Object schema of the query. The 400 response contains the message of its first issue. */
  query?: z.core.$ZodType<Query> | null;
  body?: RequestBody<Body> | null;
  response: { status: number; schema: z.core.$ZodType };
  /** Whether the route writes to the store, so that a 503 or 504 is possible. */
  writes?: true;
  /** Whether the response has a `Link` header with the previous and next page. */
  isPaged?: true;
  operation: Operation;
  /** Returns the content of a successful response. Throws an `HttpError` for any other status. */
  handler(context: RouteContext<Body, Query>): HandlerContent | Promise<HandlerContent>;
}

/** Route definition with defaults applied. */
export interface Route<Body = unknown, Query = unknown>
  extends Omit<RouteDefinition<Body, Query>, 'body'>,
    Endpoint<Body> {
  method: Endpoint['method'];
  errorFormat: ErrorFormat;
  rateHeaderFormat: RateHeaderFormat;
  query: z.core.$ZodType<Query> | null;
}

export const isClientPermission = (permission: Permission): boolean =>
  CLIENT_PERMISSIONS.some((each) => each === permission);

export const defineRoute = <Body, Query>(definition: RouteDefinition<Body, Query>): Route<Body, Query> => {
  const crossOrigin = isClientPermission(definition.permission);
  return {
    method: 'POST',
    errorFormat: 'general',
    rateHeaderFormat: crossOrigin ? 'banners' : 'general',
    query: null,
    body: null,
    crossOrigin,
    ...definition,
  };
};

type Bounds = Pick<BodyBounds, 'maxBytes' | 'maxValues'>;

/** Creates the body definition of a route for server keys. Most batches of users are smaller than `largeBytes`. */
export const serverBody = <Body>(
  { schema, read }: BodyReader<Body>,
  { maxBytes, maxValues, tooLarge = 413 }: Bounds & { tooLarge?: 413 | 400 },
): RequestBody<Body> => ({
  schema,
  read,
  bounds: {
    maxBytes,
    maxValues,
    largeBytes: 256 * 1024,
    tooLarge: { status: tooLarge, message: ERROR_MESSAGES.tooLarge },
    unsupported: { status: 415, message: ERROR_MESSAGES.unsupportedMediaType },
  },
});

/**
 * Creates the body definition of a route for client keys, which any visitor of the page can read. The SDK's batches of events
 * are smaller than `largeBytes`. The contract defines neither 413 nor 415 for banner endpoints.
 */
export const browserBody = <Body>(
  { schema, read }: BodyReader<Body>,
  { maxBytes, maxValues }: Bounds,
): RequestBody<Body> => ({
  schema,
  read,
  bounds: {
    maxBytes,
    maxValues,
    largeBytes: 16 * 1024,
    tooLarge: { status: 400, message: ERROR_MESSAGES.tooLarge },
    unsupported: { status: 400, message: ERROR_MESSAGES.unsupportedMediaType },
  },
});

/** Common fields of the examples of banner routes. */
export const ENVELOPE_EXAMPLE = {
  external_user_id: 'u-771',
  app_id: '3f1d8c52-90ab-4c7e-b1d2-6a5e4f3c2b1a',
  app_version: '4.2.0',
};

/** Throws a 400 if the workspace has no such app. */
export const assertKnownApp = ({ appIds }: Workspace, appId: string): void => {
  if (!appIds.has(appId)) throw new HttpError(400, ERROR_MESSAGES.unknownApp);
};
