import type { Clock } from './clock.ts';

/** Response with its complete body. */
export interface HttpResponse {
  url: string;
  status: number;
  headers: Headers;
  text: string;
}

interface PostRequest {
  body: string;
  key: string;
  keepalive?: boolean;
  /** Default 15,000. */
  timeoutMs?: number;
  /** Aborts the request. The timeout aborts it as well. */
  abort?: AbortController;
}

/**
 * Returns the JSON of a request body. Ignores `toJSON`, because Prototype 1.6 adds it to arrays, which would be sent as strings.
 */
export const toJson = (body: object): string =>
  JSON.stringify(body, function (this: Record<string, unknown>, key) {
    return this[key];
  });

/**
 * Rejects when the signal is aborted. In Firefox 153, a keepalive request that was in flight when its page entered the
 * back/forward cache never settles, not even on abort.
 */
const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

/**
 * Creates a function that posts JSON to an API. The caller retries. Resolves with any readable response, including an error
 * status. Rejects if there is no readable response within the timeout.
 */
export const createPostJson = (
  endpoint: string,
  after: Clock['after'],
  // Called without `this`, because the browser's `fetch` throws if it is called on another object.
  fetch: typeof globalThis.fetch = (input, init) => globalThis.fetch(input, init),
) => {
  const post = async (
    url: string,
    { body, key, keepalive }: PostRequest,
    signal: AbortSignal,
  ): Promise<HttpResponse> => {
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      // A redirect would send the key to another URL.
      redirect: 'error',
      credentials: 'omit',
      keepalive: keepalive === true,
      signal,
    });
    // A wrapper of `fetch` may omit the headers.
    const { status, headers = new Headers() } = response;
    return { url, status, headers, text: await response.text() };
  };
  return async (path: string, request: PostRequest): Promise<HttpResponse> => {
    const url = endpoint + path;
    // Not `AbortSignal.timeout`, which Chrome before version 103 does not support.
    const { timeoutMs = 15_000, abort = new AbortController() } = request;
    const cancel = after(timeoutMs, () => abort.abort(new Error(`timed out after ${timeoutMs} ms`)));
    try {
      return await Promise.race([post(url, request, abort.signal), rejectOnAbort(abort.signal)]);
    } catch (cause) {
      // The browser's error contains neither the URL nor the reason, which may be CORS, a content blocker or a service that is
      // down.
      throw new Error(`No response from ${url}: ${Object(cause).message ?? cause}`, { cause });
    } finally {
      cancel();
    }
  };
};

/** Returns the parsed JSON; `undefined` if it is invalid, because an error response may come from a proxy. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
