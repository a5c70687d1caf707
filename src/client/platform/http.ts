/** What came back, read to its end. */
export interface Answer {
  status: number;
  statusText: string;
  headers: Headers;
  text: string;
}

interface PostRequest {
  body: string;
  /** The client key. */
  key: string;
  keepalive?: boolean;
  signal: AbortSignal;
}

/**
 * Returns the JSON of a request body. Ignores `toJSON`, which Prototype 1.6 adds to arrays: they would be sent as strings.
 */
export const toJson = (body: object): string =>
  JSON.stringify(body, function (this: Record<string, unknown>, key) {
    return this[key];
  });

/** Firefox 153: a keepalive request that was under way when its page went into the bfcache never settles, abort or not. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

/**
 * Makes the calls of an API. The caller retries, and ends a call by `signal` when it takes too long. Rejects when no answer
 * could be read, and resolves with a refusal as with any other answer.
 */
export const createPostJson = (
  endpoint: string,
  // Called on nothing: the browser's own refuses to be called on an object.
  fetch: typeof globalThis.fetch = (input, init) => globalThis.fetch(input, init),
) => {
  const read = async (path: string, { body, key, keepalive, signal }: PostRequest): Promise<Answer> => {
    const url = endpoint + path;
    const answer = await fetch(url, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      // It would carry the key to wherever it points.
      redirect: 'error',
      credentials: 'omit',
      keepalive: keepalive === true,
      signal,
    }).catch((cause) => {
      // The browser names neither the address nor the reason, which may be CORS, a content blocker or a service that is down.
      throw new Error(`No response from ${url}: ${cause?.message ?? cause}`, { cause });
    });
    // A host's wrapper of `fetch` may leave the headers out.
    const { status, statusText = '', headers = new Headers() } = answer;
    return { status, statusText, headers, text: await answer.text() };
  };
  return (path: string, request: PostRequest): Promise<Answer> =>
    Promise.race([read(path, request), aborted(request.signal)]);
};

/** `undefined` for what is no JSON: a refusal may come from a proxy in any form. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
