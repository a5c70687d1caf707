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
  signal: AbortSignal;
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
 * Creates a function that posts JSON to an API. The caller retries, and sets the timeout with `signal`. Resolves with any
 * readable response, including an error status. Rejects if there is no readable response.
 */
export const createPostJson = (
  endpoint: string,
  // Called without `this`, because the browser's `fetch` throws if it is called on another object.
  fetch: typeof globalThis.fetch = (input, init) => globalThis.fetch(input, init),
) => {
  const post = async (url: string, { body, key, keepalive, signal }: PostRequest): Promise<HttpResponse> => {
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
  return (path: string, request: PostRequest): Promise<HttpResponse> => {
    const url = endpoint + path;
    return Promise.race([post(url, request), rejectOnAbort(request.signal)]).catch((cause) => {
      // The browser's error contains neither the URL nor the reason, which may be CORS, a content blocker or a service that is
      // down.
      throw new Error(`No response from ${url}: ${cause?.message ?? cause}`, { cause });
    });
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
