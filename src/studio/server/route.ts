import type { HttpError, Operator, Role, Store, StudioStore, Workspace } from '../../service/index.ts';

/** What a route gets once the operator is known and may do what it does. */
export interface StudioContext {
  operator: Operator;
  sessionId: string;
  workspace: Workspace;
  studio: StudioStore;
  store: Store;
  /** The path's parts, by the names that the route gives them. */
  params: Record<string, string>;
  query: URLSearchParams;
  /** The parsed body, unchecked; `undefined` where there is none. */
  body: unknown;
  /** The revision that `If-Match` names; `null` where it names none. */
  ifMatch: string | null;
  nowMs: number;
  /** Where the Studio is reached, without a slash at the end. */
  origin: string;
  audit(action: string, subject: string, details?: string): Promise<void>;
  /** Lets this process see a release at once; the others follow. */
  refresh(): Promise<void>;
}

export interface StudioAnswer {
  status: number;
  /** Sent as JSON. */
  body?: unknown;
  /** Or text as it is. */
  text?: string;
  headers?: Record<string, string>;
  /** Takes the session's cookie away. */
  endsSession?: boolean;
}

/** One row of the Studio's API. */
export interface StudioRoute {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** For example `/api/drafts/:campaignId`. */
  path: string;
  /** The least role that may call it. */
  role: Role;
  /** Throws an `HttpError` to refuse; anything else thrown is a plain 500. */
  answer(context: StudioContext): StudioAnswer | Promise<StudioAnswer>;
}

export type { HttpError };
