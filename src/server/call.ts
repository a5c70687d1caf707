import ky, { isNetworkError } from 'ky';
import { type RateLimitInfo, type ResetKind, readErrorBody, readRateLimit } from '../protocol/index.ts';
import { ApiError, ConnectionError, InDoubtError } from './api-error.ts';
import {
  backoffMs,
  createRateLimiter,
  type RateLimiter,
  readRetryAfterMs,
  type Sleep,
} from './rate-limiter.ts';

interface CallRequest {
  method: 'GET' | 'POST';
  path: string;
  query?: Record<string, string>;
  /** JSON text. */
  body?: string;
  resetKind: ResetKind;
  idempotent: boolean;
  /** Called if the API may have stored a request that is not idempotent: no response, a 504, an unreadable 2xx, or an abort. */
  onInDoubt?: () => void;
  /** Called before each attempt. An exception ends the call. */
  onAttempt?: () => void;
  /** Called after a failed attempt, if the API stored nothing. */
  onNotSent?: () => void;
  /** Default: the option of the client. */
  maxAttempts?: number;
  signal?: AbortSignal | undefined;
}

/** A 2xx with a JSON body. */
interface CallResponse {
  status: number;
  headers: Headers;
  body: unknown;
}

export interface CallOptions {
  /** Base URL without a trailing slash. */
  endpoint: string;
  apiKey: string | (() => string | Promise<string>);
  fetch: typeof fetch;
  maxAttempts: number;
  timeoutMs: number;
  now: () => number;
  random: () => number;
  sleep: Sleep;
  onRetry: (error: Error, waitMs: number) => void;
}

/**
 * Returns whether the connection could not be established. Checks `syscall` and `code`, because an established connection can
 * fail with the same code.
 */
const isConnectionFailure = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const { code, syscall }: NodeJS.ErrnoException = error;
  if (syscall === 'connect' || syscall === 'getaddrinfo' || code === 'UND_ERR_CONNECT_TIMEOUT') return true;
  // Node throws an `AggregateError` with one error per address of the host.
  return error instanceof AggregateError
    ? error.errors.some(isConnectionFailure)
    : isConnectionFailure(error.cause);
};

/** Returns the cause of ky's error, which contains the request and would expose the key in logs. */
const unwrapNetworkError = (error: unknown): unknown => (isNetworkError(error) ? error.cause : error);

const isJson = (headers: Headers): boolean =>
  /^application\/([\w.+-]+\+)?json\b/i.test(headers.get('content-type') ?? '');

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const toAuthorization = (key: string): string => {
  const authorization = `Bearer ${key}`;
  try {
    new Headers({ authorization });
  } catch {
    // Replaces the platform's message, which quotes the key.
    throw new TypeError('apiKey holds characters that a header cannot carry');
  }
  return authorization;
};

type Outcome =
  | { type: 'response'; response: CallResponse }
  | { type: 'retry'; error: Error; waitMs?: number | undefined }
  | { type: 'in_doubt'; error: InDoubtError; waitMs?: number | undefined }
  | { type: 'stop'; error: Error };

const toOutcome = (
  endpoint: string,
  status: number,
  headers: Headers,
  text: string,
  rateLimit: RateLimitInfo,
): Outcome => {
  const body = parsed(text);
  if (status >= 200 && status < 300) {
    if (body !== undefined) return { type: 'response', response: { status, headers, body } };
    const cause = new Error(`the response (${status}) is not JSON`);
    // HTML comes from a captive portal or a proxy, so the API did not receive the request.
    if (isJson(headers)) return { type: 'in_doubt', error: new InDoubtError(endpoint, cause) };
  }
  const refusal = readErrorBody(body);
  const target = headers.get('location');
  const retryable = status === 429 || status >= 500 || status < 300;
  const error = new ApiError({
    status,
    endpoint,
    retryable,
    serverMessage:
      refusal.text ??
      (status < 300 ? 'a page that is not the API' : target ? `a redirect to ${target}` : undefined),
    errors: refusal.errors,
    rateLimit,
  });
  if (!retryable) return { type: 'stop', error };
  const waitMs = readRetryAfterMs(status, headers, rateLimit);
  // After a gateway timeout, the API may have stored the request.
  if (status === 504) return { type: 'in_doubt', error: new InDoubtError(endpoint, error), waitMs };
  return { type: 'retry', error, waitMs };
};

/**
 * Sends one request. Retries 429 and 5xx after their `Retry-After`, and an unknown outcome only if the request is idempotent.
 * Throws `ApiError`, `InDoubtError`, `ConnectionError`, or the reason of the signal.
 */
// ky's own retries and timeouts are off, because they cannot distinguish a rejected request from one in doubt.
export const createCall = (options: CallOptions) => {
  const rateLimiters = new Map<string, RateLimiter>();
  const getRateLimiter = (path: string): RateLimiter => {
    const rateLimiter = rateLimiters.get(path) ?? createRateLimiter(options.now, options.sleep);
    rateLimiters.set(path, rateLimiter);
    return rateLimiter;
  };

  /** Reads the key after waiting for the rate limit, because it may change in the meantime. */
  const awaitAuthorization = async (
    { signal, onAttempt }: CallRequest,
    rateLimiter: RateLimiter,
  ): Promise<string> => {
    const { apiKey } = options;
    await rateLimiter.acquire(signal);
    try {
      signal?.throwIfAborted();
      const authorization = toAuthorization(typeof apiKey === 'function' ? await apiKey() : apiKey);
      onAttempt?.();
      return authorization;
    } catch (error) {
      // Released here, because no response will release the permit.
      rateLimiter.release();
      throw error;
    }
  };

  const attempt = async (request: CallRequest, rateLimiter: RateLimiter): Promise<Outcome> => {
    const { method, path, query, body, resetKind, signal } = request;
    const endpoint = `${method} ${path}`;
    const authorization = await awaitAuthorization(request, rateLimiter);
    const timeout = AbortSignal.timeout(options.timeoutMs);
    let info: RateLimitInfo = {};
    let isLimited = false;
    try {
      const response = await ky(options.endpoint + path, {
        method,
        headers: {
          authorization,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body }),
        ...(query && { searchParams: query }),
        fetch: (input, init) => options.fetch(input, init),
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        // A redirect could send the key and user data to another host.
        redirect: 'manual',
        retry: 0,
        timeout: false,
        throwHttpErrors: false,
      });
      info = readRateLimit(response.headers, resetKind, options.now());
      isLimited = response.status === 429;
      return toOutcome(endpoint, response.status, response.headers, await response.text(), info);
    } catch (thrown) {
      const error = unwrapNetworkError(thrown);
      if (isConnectionFailure(error)) {
        return { type: 'retry', error: new ConnectionError(endpoint, options.endpoint, error) };
      }
      if (signal?.aborted) request.onInDoubt?.();
      signal?.throwIfAborted();
      return { type: 'in_doubt', error: new InDoubtError(endpoint, error) };
    } finally {
      rateLimiter.update(info, isLimited);
    }
  };

  return async (request: CallRequest): Promise<CallResponse> => {
    const rateLimiter = getRateLimiter(request.path);
    const { maxAttempts = options.maxAttempts } = request;
    for (let count = 1; ; count += 1) {
      const outcome = await attempt(request, rateLimiter);
      if (outcome.type === 'response') return outcome.response;
      if (outcome.type === 'stop' || count >= maxAttempts) throw outcome.error;
      if (outcome.type === 'in_doubt') {
        if (!request.idempotent) throw outcome.error;
        request.onInDoubt?.();
      } else request.onNotSent?.();
      const waitMs = Math.round(backoffMs(count, options.random(), outcome.waitMs));
      options.onRetry(outcome.error, waitMs);
      await options.sleep(waitMs, request.signal);
    }
  };
};

export type Call = ReturnType<typeof createCall>;
