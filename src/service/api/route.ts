import type * as z from 'zod';
import {
  ERROR_MESSAGES,
  type ErrorFormat,
  type Permission,
  type RateHeaderFormat,
} from '../../protocol/index.ts';
import type { BodyBounds, BodyReader, RequestBody } from '../http/body.ts';
import { type HandlerResult, HttpError } from '../http/http-request.ts';
import type { Endpoint, Params } from '../http/router.ts';
import type { Store } from '../store/store.ts';
import type { LimitName } from '../workspace/limits.ts';
import type { ApiKey, Workspace } from '../workspace/workspace.ts';

/** What a route counts beside its answer. */
export interface RouteMetrics {
  /** Objects, events or placements that were accepted. */
  objects(kind: string, count: number): void;
  /** One entry of an answer's `errors`, by its code. */
  error(code: string): void;
}

/** What a route gets once the gate has let the request in: key, permission, rate and body are right. */
export interface RouteContext<Body = unknown> {
  workspace: Workspace;
  /** The key that the request carries. */
  key: ApiKey;
  store: Store;
  query: URLSearchParams;
  /** What the path has for the parts in braces. */
  params: Params;
  /** As the route's reader gives it; `undefined` where the route takes none. */
  body: Body;
  /** The header `Accept-Language`; `''` where the request has none. */
  acceptLanguage: string;
  /** What the client says that it is; `''` where it does not. */
  userAgent: string;
  /** Unix milliseconds. */
  now: number;
  metrics: RouteMetrics;
}

/** What the description of the API adds to a route. */
export interface Operation {
  id: string;
  tag: 'Banners' | 'Users' | 'Campaigns' | 'Integrations';
  summary: string;
  description: string;
  example?: unknown;
  /** Status of success, and what its body is. */
  success: number;
  response: z.core.$ZodType;
  /** What a 400 means here, where there is one. */
  badRequest?: string;
  /** Whether it stores anything. */
  writes?: true;
  /** Descriptions of the parts in braces of the path, by name. */
  parameters?: Readonly<Record<string, string>>;
  /** Answers page by page: takes a `cursor` and sends a `Link` header. */
  isPaged?: true;
  /** What a 404 means here, where the path itself is right. */
  notFound?: string;
}

/** One row of the API. */
export interface Route<Body = unknown> extends Endpoint<Body> {
  permission: Permission;
  /** Which members a refusal has. */
  errors: ErrorFormat;
  rate: RateHeaderFormat;
  limit: LimitName;
  /** What `/openapi.json` and `/docs` say of it. */
  operation: Operation;
  handler(context: RouteContext<Body>): HandlerResult | Promise<HandlerResult>;
}

/** A route whose body has the type that its reader gives. */
export const defineRoute = <Body>(route: Route<Body>): Route<Body> => route;

type Bounds = Pick<BodyBounds, 'maxBytes' | 'maxValues'>;

/** A body of a backend. Most batches of users are shorter than what counts as large. */
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
 * A body of a page, for which a client key will do, and that has any reader of the page. The SDK's batches of events are shorter
 * than what counts as large here. The tables of the banner endpoints have no 413 and no 415.
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

/** What the routes for pages have in common. */
export const BROWSER_ROUTE = { method: 'POST', rate: 'banners', crossOrigin: true } as const;

/** The members with which the examples of these routes begin. */
export const ENVELOPE_EXAMPLE = {
  external_user_id: 'u-771',
  app_id: '3f1d8c52-90ab-4c7e-b1d2-6a5e4f3c2b1a',
  app_version: '4.2.0',
};

/** Throws a 400 where the workspace has no such app. No schema can know its apps. */
export const assertKnownApp = ({ appIds }: Workspace, appId: string): void => {
  if (!appIds.has(appId)) throw new HttpError(400, ERROR_MESSAGES.unknownApp);
};
