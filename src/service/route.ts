import type * as z from 'zod';
import type { ErrorDialect, Permission, RateDialect } from '../protocol/index.ts';
import type { Store } from './store/store.ts';
import type { ApiKey, Workspace } from './workspace/workspace.ts';

/** The member of a workspace's `limits` that counts an endpoint's requests. */
export type LimitName =
  | 'users_track'
  | 'users_track_bulk'
  | 'banners_sync'
  | 'banners_track'
  /** Banner events of all visitors together. */
  | 'visitors'
  /** Users whom banner events make. */
  | 'new_users'
  | 'cdi_integrations'
  /** Identify, merge, alias/new and explain together. */
  | 'users_other'
  | 'users_export_ids';

/** What a route counts beside its answer. */
export interface RouteMetrics {
  /** Objects, events or placements that were accepted. */
  objects(kind: string, count: number): void;
  /** One entry of an answer's `errors`, by its code. */
  error(code: string): void;
}

/** What a route gets once the gate has let the request in: key, permission, rate, content type, size and JSON are right. */
export interface RouteContext {
  workspace: Workspace;
  /** The key that the request carries. */
  key: ApiKey;
  store: Store;
  query: URLSearchParams;
  /** What stands in the path where the route has `{…}`; `''` where it has none. */
  parameter: string;
  /** The parsed body, unchecked; `undefined` where the route has none. */
  body: unknown;
  /** The header `Accept-Language`; `''` where the request has none. */
  acceptLanguage: string;
  /** Unix milliseconds. */
  now: number;
  metrics: RouteMetrics;
}

/** `body` is sent as JSON; `text` is JSON already. */
export type Answer = { status: number; headers?: Record<string, string> } & (
  | { body: unknown }
  | { text: string }
);

/** What the description of the API adds to a route. */
export interface Operation {
  id: string;
  tag: 'Banners' | 'Users' | 'Campaigns' | 'Integrations';
  summary: string;
  description: string;
  request?: z.core.$ZodType;
  example?: unknown;
  /** Status of success, and what its body is. */
  success: number;
  answer: z.core.$ZodType;
  /** What a 400 means here, where there is one. */
  badRequest?: string;
  /** Whether it stores anything. */
  writes?: true;
  /** What a 404 means here, where the path itself is right. */
  notFound?: string;
}

/** One row of the API. */
export interface Route {
  method: 'GET' | 'POST';
  /** May have one part in braces, such as `{integration_id}`. */
  path: string;
  permission: Permission;
  /** Which members a refusal has. */
  errors: ErrorDialect;
  rate: RateDialect;
  limit: LimitName;
  maxBodyBytes: number;
  /** Values that the JSON of a large body may hold: with more it is refused unparsed. */
  maxValues: number;
  /** What a longer body is answered: 413, or 400 where the endpoint's table has no 413. */
  tooLarge: 413 | 400;
  /** Web pages of other origins may call it with a client key: preflights are answered. */
  crossOrigin?: boolean;
  /** What `/openapi.json` and `/docs` say of it. */
  operation: Operation;
  /** Throws `HttpError` to refuse; anything else thrown becomes a plain 500. */
  answer(context: RouteContext): Answer | Promise<Answer>;
}
