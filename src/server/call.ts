import ky, { isNetworkError } from 'ky';
import { type RateLimitInfo, type ResetKind, readRateLimit, readRefusal } from '../protocol/index.ts';
import { ApiError, InDoubtError, UnsentError } from './api-error.ts';
import { backoffMs, createPace, type Pace, type Sleep, wishedWaitMs } from './pace.ts';

interface CallRequest {
  method: 'GET' | 'POST';
  path: string;
  query?: Record<string, string>;
  /** JSON text. */
  body?: string;
  resetKind: ResetKind;
  /** Whether the request may be sent again when its answer was lost: taking it twice must do no harm. */
  repeatable: boolean;
  /** Called when an answer was lost, or is not waited for: from then on the request may have been taken. */
  onLostAnswer?: () => void;
  /** Called right before each attempt; what it throws ends the call. */
  onAttempt?: () => void;
  /** Called when an attempt has failed of which nothing was taken: there may be another one. */
  onNotTaken?: () => void;
  /** How often it is sent at most; default as the client's option says. */
  maxAttempts?: number;
  signal?: AbortSignal | undefined;
}

/** A 2xx with a JSON body. */
interface CallAnswer {
  status: number;
  headers: Headers;
  body: unknown;
}

export interface CallOptions {
  /** Base URL, without a slash at its end. */
  endpoint: string;
  apiKey: string | (() => string | Promise<string>);
  fetch: typeof fetch;
  /** How often a request is sent at most. */
  maxAttempts: number;
  /** Longest wait for an answer, in milliseconds. */
  timeoutMs: number;
  now: () => number;
  random: () => number;
  sleep: Sleep;
  onRetry: (error: Error, waitMs: number) => void;
}

/**
 * Whether there was no connection, by the errors of Node: the request never left, and sending it again cannot count anything twice. The
 * code alone does not say it: a connection that was made may end with the same one.
 */
const neverSent = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'connect' || syscall === 'getaddrinfo' || code === 'UND_ERR_CONNECT_TIMEOUT') return true;
  // A host with several addresses: each was tried.
  return error instanceof AggregateError ? error.errors.some(neverSent) : neverSent(error.cause);
};

/** The platform's own error: ky's around it holds the request, and printing that prints the key. */
const withoutRequest = (error: unknown): unknown => (isNetworkError(error) ? error.cause : error);

const isJson = (headers: Headers): boolean =>
  /^application\/([\w.+-]+\+)?json\b/i.test(headers.get('content-type') ?? '');

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // The caller decides what an answer means that is no JSON.
    return undefined;
  }
};

/** Throws for a key that no header can carry: nothing is sent, and a failed call could not say so. */
const authorizationOf = (key: string): string => {
  const authorization = `Bearer ${key}`;
  try {
    new Headers({ authorization });
  } catch {
    // The platform's message quotes the key.
    throw new TypeError('apiKey holds characters that a header cannot carry');
  }
  return authorization;
};

/** One attempt's end: an answer, a reason to try again, or an error for the caller. */
type Outcome =
  | { type: 'answer'; answer: CallAnswer }
  | { type: 'again'; error: Error; waitMs?: number | undefined }
  | { type: 'doubt'; error: InDoubtError; waitMs?: number | undefined }
  | { type: 'stop'; error: Error };

const judge = (
  endpoint: string,
  status: number,
  headers: Headers,
  text: string,
  rateLimit: RateLimitInfo,
): Outcome => {
  const body = parsed(text);
  if (status >= 200 && status < 300) {
    if (body !== undefined) return { type: 'answer', answer: { status, headers, body } };
    const cause = new Error(`The answer (${status}) is not JSON`);
    // A captive portal or a proxy answers with a page of its own: the service saw nothing.
    if (isJson(headers)) return { type: 'doubt', error: new InDoubtError(endpoint, cause) };
  }
  const refusal = readRefusal(body);
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
  const waitMs = wishedWaitMs(status, headers, rateLimit);
  // 504: the service was asked and did not answer in time.
  if (status === 504) return { type: 'doubt', error: new InDoubtError(endpoint, error), waitMs };
  return { type: 'again', error, waitMs };
};

/**
 * Makes one request, again and again where that is right: 429 and 5xx always (after the wait they name), a lost answer
 * only when the request is repeatable. Throws `ApiError`, `InDoubtError`, `UnsentError`, or the
 * signal's reason.
 */
export const createCall = (options: CallOptions) => {
  const paces = new Map<string, Pace>();
  const paceOf = (path: string): Pace => {
    const pace = paces.get(path) ?? createPace(options.now, options.sleep);
    paces.set(path, pace);
    return pace;
  };

  /** Waits until a request may go out, and asks for the key only then: by the end of a long wait it may be another one. */
  const authorizationInTurn = async ({ signal, onAttempt }: CallRequest, pace: Pace): Promise<string> => {
    const { apiKey } = options;
    await pace.turn(signal);
    try {
      signal?.throwIfAborted();
      const authorization = authorizationOf(typeof apiKey === 'function' ? await apiKey() : apiKey);
      onAttempt?.();
      return authorization;
    } catch (error) {
      // No answer will end this turn: the pace would count it as under way for the client's life.
      pace.release();
      throw error;
    }
  };

  const attempt = async (request: CallRequest, pace: Pace): Promise<Outcome> => {
    const { method, path, query, body, resetKind, signal } = request;
    const endpoint = `${method} ${path}`;
    const authorization = await authorizationInTurn(request, pace);
    const timeout = AbortSignal.timeout(options.timeoutMs);
    let info: RateLimitInfo = {};
    let refused = false;
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
        // Another host must not see the key or the users.
        redirect: 'manual',
        retry: 0,
        timeout: false,
        throwHttpErrors: false,
      });
      info = readRateLimit(response.headers, resetKind, options.now());
      refused = response.status === 429;
      return judge(endpoint, response.status, response.headers, await response.text(), info);
    } catch (thrown) {
      const error = withoutRequest(thrown);
      if (neverSent(error)) {
        return { type: 'again', error: new UnsentError(endpoint, options.endpoint, error) };
      }
      // It was on the wire.
      if (signal?.aborted) request.onLostAnswer?.();
      signal?.throwIfAborted();
      return { type: 'doubt', error: new InDoubtError(endpoint, error) };
    } finally {
      pace.update(info, refused);
    }
  };

  return async (request: CallRequest): Promise<CallAnswer> => {
    const pace = paceOf(request.path);
    const { maxAttempts = options.maxAttempts } = request;
    for (let count = 1; ; count += 1) {
      const outcome = await attempt(request, pace);
      if (outcome.type === 'answer') return outcome.answer;
      if (outcome.type === 'stop' || count >= maxAttempts) throw outcome.error;
      if (outcome.type === 'doubt') {
        if (!request.repeatable) throw outcome.error;
        request.onLostAnswer?.();
      } else request.onNotTaken?.();
      const waitMs = Math.round(backoffMs(count, options.random(), outcome.waitMs));
      options.onRetry(outcome.error, waitMs);
      await options.sleep(waitMs, request.signal);
    }
  };
};

export type Call = ReturnType<typeof createCall>;
