import { isVisitorId } from '../../protocol/index.ts';
import type { Fail } from '../notices.ts';
import type { PauseUser, TokenSource } from '../user/token-source.ts';
import type { Clock } from './clock.ts';
import { isPendingDeadline, withTimeout } from './pauses.ts';

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

export type PostJson = ReturnType<typeof createPostJson>;

/** Returns the parsed JSON; `undefined` if it is invalid, because an error response may come from a proxy. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Timeout of the host's functions. */
const HOST_TIMEOUT_MS = 10_000;

type ProvideKey = string | (() => string | Promise<string>);

/** Returns the current key. Rejects if the host's function fails. */
export const getApiKey = async (apiKey: ProvideKey, after: Clock['after']): Promise<string> => {
  if (typeof apiKey === 'string') return apiKey;
  const key = await withTimeout(apiKey(), after, HOST_TIMEOUT_MS, 'apiKey()');
  if (typeof key !== 'string' || key === '') throw new Error('apiKey() returned no key');
  return key;
};

/** Caches the client key until the server rejects it. */
export const createApiKeyProvider = (apiKey: ProvideKey, after: Clock['after']) => {
  let key = typeof apiKey === 'string' ? apiKey : undefined;
  let requesting: Promise<string> | undefined;

  const request = async (): Promise<string> => {
    try {
      key = await getApiKey(apiKey, after);
      return key;
    } finally {
      requesting = undefined;
    }
  };

  return {
    async get(): Promise<string> {
      if (key !== undefined) return key;
      requesting ??= request();
      return requesting;
    },
    /** Returns the cached key; `undefined` if none. Exit handlers cannot wait for the host. */
    current: (): string | undefined => key,
    /** Drops a rejected key, so that the host's function is called again. */
    clear(): void {
      if (typeof apiKey !== 'string') key = undefined;
    },
  };
};

/** Pause for a user who has no token, or whose new token was rejected. */
const PAUSE_MS = 5 * 60_000;

/**
 * Manages the user tokens of this page, in memory. `load` loads their source when a call first needs a token. Without it, requests
 * are sent without a token.
 */
export const createUserTokens = (
  load: ((pause: PauseUser) => Promise<TokenSource>) | undefined,
  now: () => number,
  fail: Fail,
) => {
  let source: TokenSource | undefined;
  const pauses = new Map<string, number>();
  const pause: PauseUser = (userId, message, cause, ms = PAUSE_MS) => {
    pauses.set(userId, now() + ms);
    fail('unauthorized', `${message}: the events of this user wait`, cause);
  };

  const current = (userId: string): string | undefined => source?.current(userId);
  const pausedUntil = (userId: string): number => pauses.get(userId) ?? 0;
  const isPaused = (userId: string): boolean => isPendingDeadline(pausedUntil(userId), now(), PAUSE_MS);
  /** A visitor needs no token, because only this browser knows the visitor ID. */
  const isNeeded = (userId: string): boolean => load !== undefined && !isVisitorId(userId);

  return {
    /** Whether the host provides user tokens. */
    isUsed: load !== undefined,
    isPaused,
    pausedUntil,
    current,
    /** Returns whether a request of this user can be sent now, without a new token. */
    isReady: (userId: string): boolean => !isNeeded(userId) || current(userId) !== undefined,
    /**
     * Returns the token to send; `undefined` if none is needed. If none is available, or the source cannot be loaded, starts a
     * pause and returns `undefined`.
     */
    async get(userId: string): Promise<string | undefined> {
      if (!isNeeded(userId) || isPaused(userId)) return undefined;
      try {
        const loaded = source ?? (await load!(pause));
        // Another call may have loaded it in the meantime.
        source ??= loaded;
        return await source.get(userId);
      } catch (cause) {
        pause(userId, 'User token failed', cause, 30_000);
        return undefined;
      }
    },
    /** Handles a rejected or missing token; `fault` is the service's reason. */
    reject(userId: string, sent: string | undefined, fault: string): void {
      if (!source || source.reject(userId, sent)) pause(userId, `User token rejected: ${fault}`);
    },
    /** Ends all pauses, because a user signed in. Returns `false` if there was none. */
    resume(): boolean {
      const had = pauses.size > 0;
      pauses.clear();
      return had;
    },
  };
};

export type UserTokens = ReturnType<typeof createUserTokens>;
