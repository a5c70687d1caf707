import {
  ERROR_MESSAGES,
  type ErrorFormat,
  errorBody,
  rateLimitHeaders,
  USERS_TRACK_PATH,
} from '../protocol/index.ts';
import type { FakeResponse, ForcedErrors } from './fake-response.ts';

/** Format of the wait time in a 429. */
export type RateLimitForm =
  /** All four headers, with the reset in epoch seconds and `X-RateLimit-Retry-After`. */
  | 'banners'
  /** Only `X-Ratelimit-Retry-After`. */
  | 'users-track'
  /** `Retry-After` of a proxy, in seconds or as an HTTP date. */
  | 'retry-after'
  | 'retry-after-date'
  /** Only a reset, in epoch seconds on the banner endpoints, and in seconds left on `/users/track`. */
  | 'reset'
  /** No header that the caller can read, as behind a proxy without `Access-Control-Expose-Headers`. */
  | 'hidden';

/** Fault of a request. */
export type Fault =
  /** Reports these events in `errors` and stores the others. */
  | { type: 'skip'; indices: number[]; reason?: string }
  /** Stores valid events and responds with these `errors` and this count unchanged, to simulate inconsistent responses. */
  | { type: 'errors'; errors: unknown[]; processed?: number }
  | { type: 'rate-limit'; afterSeconds: number; form?: RateLimitForm }
  /**
   * Responds with any other status and stores nothing. Default body: the error of the endpoint. A string is sent as HTML. 204,
   * 205 and 304 have no body.
   */
  | { type: 'status'; status: number; body?: unknown; headers?: Record<string, string> }
  /** Delays the response by `delayMs`. */
  | { type: 'slow'; delayMs: number }
  /** Never responds. Stores the request if `stored`. */
  | { type: 'hang'; stored?: boolean }
  /** Closes the connection without a response, before or after the request was stored. */
  | { type: 'drop'; when: 'before' | 'after' }
  /** Responds with 200 and an HTML page, and stores nothing. */
  | { type: 'captive-portal' }
  /** Stores the request and sends half of the JSON. The connection then ends, or breaks if `broken`. */
  | { type: 'truncate'; broken?: boolean }
  /** Redirects, and stores nothing. */
  | { type: 'redirect'; to: string; status?: 301 | 302 | 303 | 307 | 308 };

/** Requests that a fault applies to. */
export interface FaultScope {
  /** Number of requests. Default 1. `Infinity` applies until the fault is lifted. */
  times?: number;
  /** Only this path. Default: any. */
  path?: string;
  /** Only requests for which this returns `true`. */
  when?: (request: { path: string; body: unknown; count: number }) => boolean;
}

/** Thrown by `handle` if there is no response. `fetch` turns it into a network error; a real server must close the socket. */
export class ConnectionDropped extends Error {
  override readonly name = 'ConnectionDropped';
}

interface Armed {
  fault: Fault;
  scope: FaultScope;
  left: number;
}

/** Pending faults, in FIFO order. */
export const createFaults = () => {
  let armed: Armed[] = [];
  return {
    /** Adds a fault. Returns a function that lifts it. */
    add(fault: Fault, scope: FaultScope = {}): () => void {
      const entry = { fault, scope, left: scope.times ?? 1 };
      armed.push(entry);
      return () => {
        armed = armed.filter((other) => other !== entry);
      };
    },
    /** Returns the fault that applies to a request, and decrements its count. */
    take(request: { path: string; body: unknown; count: number }): Fault | undefined {
      const entry = armed.find(
        ({ scope }) => (scope.path ?? request.path) === request.path && (scope.when?.(request) ?? true),
      );
      if (entry === undefined) return undefined;
      entry.left -= 1;
      if (entry.left <= 0) armed = armed.filter((other) => other !== entry);
      return entry.fault;
    },
    clear(): void {
      armed = [];
    },
  };
};

/** Headers of a 429, in each form that servers and proxies use. */
const refusalHeaders = (
  form: RateLimitForm,
  afterSeconds: number,
  path: string,
  now: number,
): Record<string, string> => {
  const resetAtMs = now + afterSeconds * 1000;
  switch (form) {
    case 'banners':
    case 'users-track':
      return rateLimitHeaders(form, { limit: 100, remaining: 0, resetAtMs }, now, true);
    case 'retry-after':
      return { 'Retry-After': String(afterSeconds) };
    case 'retry-after-date':
      return { 'Retry-After': new Date(resetAtMs).toUTCString() };
    case 'reset':
      return {
        'X-RateLimit-Reset': String(path === USERS_TRACK_PATH ? afterSeconds : Math.ceil(resetAtMs / 1000)),
      };
    case 'hidden':
      return {};
  }
};

const PORTAL_PAGE = '<!doctype html><title>Welcome</title><p>Please accept the terms of this network.</p>';

/** Returns the response for a fault that prevents the request from being stored. */
export const notTaken = (
  fault: Fault,
  dialect: ErrorFormat,
  path: string,
  now: number,
): FakeResponse | undefined => {
  switch (fault.type) {
    case 'status':
      return {
        status: fault.status,
        body: fault.body ?? errorBody(dialect, `Status ${fault.status}`),
        headers: fault.headers ?? {},
      };
    case 'rate-limit':
      return {
        status: 429,
        body: errorBody(dialect, ERROR_MESSAGES.overRateLimit),
        headers: refusalHeaders(fault.form ?? 'banners', fault.afterSeconds, path, now),
      };
    case 'captive-portal':
      return { status: 200, body: PORTAL_PAGE };
    case 'redirect':
      return { status: fault.status ?? 307, body: '', headers: { Location: fault.to } };
    default:
      return undefined;
  }
};

/** Returns the `errors` that a fault adds to the response to a stored request. */
export const forcedErrors = (fault: Fault | undefined): ForcedErrors => {
  if (fault?.type === 'skip') {
    return { skip: { indices: fault.indices, reason: fault.reason ?? 'Rejected by test' } };
  }
  if (fault?.type !== 'errors') return {};
  const { errors, processed } = fault;
  return { raw: { errors, ...(processed !== undefined && { processed }) } };
};
