import type { ErrorDialect, Permission, RateDialect } from '../protocol/index.ts';
import type { Store } from './store/store.ts';
import type { Workspace } from './workspace/workspace.ts';

/** The member of a workspace's `limits` that counts an endpoint's requests. */
export type LimitName =
  | 'users_track'
  | 'users_track_bulk'
  | 'banners_sync'
  | 'banners_track'
  | 'cdi_integrations'
  | 'users_other';

/** What a route gets once the gate has let the request in: key, permission, rate, content type, size and JSON are right. */
export interface RouteContext {
  workspace: Workspace;
  store: Store;
  query: URLSearchParams;
  /** The parsed body, unchecked; `undefined` on a GET. */
  body: unknown;
  /** Unix milliseconds. */
  now: number;
}

/** `body` is sent as JSON. */
export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** One row of the API. */
export interface Route {
  method: 'GET' | 'POST';
  path: string;
  permission: Permission;
  /** Which members a refusal has. */
  errors: ErrorDialect;
  rate: RateDialect;
  limit: LimitName;
  maxBodyBytes: number;
  /** Throws `HttpError` to refuse; anything else thrown becomes a plain 500. */
  answer(context: RouteContext): Answer | Promise<Answer>;
}
