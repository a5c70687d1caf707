import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { type Resolve, type ResolvedAddress, resolvePublic, WebhookConfigurationError } from './address.ts';

const TIMEOUT_MS = 15_000;

/** Response of a receiver. */
export interface PostResult {
  status: number;
  /** Value of `Retry-After` in milliseconds; `null` if none. */
  retryAfterMs: number | null;
}

interface PostOptions {
  url: URL;
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
}

interface CreatePostOptions {
  /** Hostnames and addresses of private hosts that are allowed, even over HTTP. */
  privateHosts: ReadonlySet<string>;
  /** Resolves a hostname. Default: DNS. */
  resolve?: Resolve | undefined;
  /** Timeout in milliseconds. Default: 15 seconds. */
  timeoutMs?: number | undefined;
}

export type Post = (options: PostOptions) => Promise<PostResult>;

/** Parses `Retry-After`, which is a number of seconds or a date. */
export const parseRetryAfter = (text: string | undefined, nowMs: number): number | null => {
  if (text === undefined) return null;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs;
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
};

const createPinnedLookup =
  (addresses: readonly ResolvedAddress[]): LookupFunction =>
  (_host, { all }, callback) => {
    const [first] = addresses;
    if (all) callback(null, [...addresses]);
    else callback(null, first!.address, first!.family);
  };

/**
 * Creates a function that posts to the checked address of a receiver, without redirects. It does not use a proxy, which would
 * resolve the name again. Rejects if no response arrives.
 */
export const createPost = ({ privateHosts, resolve, timeoutMs = TIMEOUT_MS }: CreatePostOptions) => {
  const agents = { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) };
  const post: Post = async ({ url, headers, body, signal }) => {
    const addresses = await resolvePublic(url.hostname, privateHosts, resolve);
    const isHttps = url.protocol === 'https:';
    if (!isHttps && !privateHosts.has(url.hostname.replace(/^\[(.*)\]$/, '$1')))
      throw new WebhookConfigurationError('expected https:');
    return new Promise((done, reject) => {
      const request = (isHttps ? httpsRequest : httpRequest)(url, {
        method: 'POST',
        agent: isHttps ? agents.https : agents.http,
        lookup: createPinnedLookup(addresses),
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
      request.on('error', reject);
      request.on('response', (response) => {
        // Discards the response body, because it may echo the request.
        response.on('error', reject).resume();
        response.on('end', () =>
          done({
            status: response.statusCode ?? 0,
            retryAfterMs: parseRetryAfter(response.headers['retry-after'], Date.now()),
          }),
        );
      });
      request.end(body);
    });
  };
  const close = () => {
    agents.http.destroy();
    agents.https.destroy();
  };
  return { post, close };
};
