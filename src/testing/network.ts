import { ConnectionDropped } from './fault.ts';

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);
const MAX_REDIRECTS = 20;

/** Error of a browser for any network failure. */
const networkError = (cause: unknown): TypeError => new TypeError('Failed to fetch', { cause });

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

/** Returns the request after a redirect, as a browser sends it. Removes the key if the origin changes. */
const redirected = (request: Request, response: Response, body: string): Request => {
  const target = new URL(response.headers.get('location') ?? '', request.url);
  const headers = new Headers(request.headers);
  if (target.origin !== new URL(request.url).origin) headers.delete('authorization');
  const becomesGet = response.status === 303 || (response.status < 303 && request.method === 'POST');
  return new Request(target, {
    method: becomesGet ? 'GET' : request.method,
    headers,
    ...(!becomesGet && request.method !== 'GET' && { body }),
    signal: request.signal,
    redirect: request.redirect,
  });
};

/** Sends the request to the handler and follows redirects. */
const travel = async (
  first: Request,
  handle: (request: Request) => Promise<Response>,
  origin: string,
): Promise<Response> => {
  let request = first;
  for (let count = 0; count <= MAX_REDIRECTS; count += 1) {
    if (new URL(request.url).origin !== origin) throw networkError(`No server at ${request.url}`);
    const body = request.body ? await request.clone().text() : '';
    const { signal } = request;
    // A request aborted before it is sent does not reach the server.
    signal.throwIfAborted();
    let response: Response;
    try {
      response = await Promise.race([handle(request), aborted(signal)]);
    } catch (error) {
      throw error instanceof ConnectionDropped ? networkError(error) : error;
    }
    if (!isRedirect(response.status) || request.redirect === 'manual') return response;
    if (request.redirect === 'error') throw networkError('Redirects not allowed');
    request = redirected(request, response, body);
  }
  throw networkError('Too many redirects');
};

/**
 * Keeps pending requests alive. Node's `Request` holds only a weak reference to the signal of its source, so otherwise the signal
 * could be garbage-collected before an abort fires.
 */
const underWay = new Set<unknown>();

/**
 * Creates a `fetch` for a handler that fails like a browser's. A dropped connection is a `TypeError`, an abort rejects with its
 * reason, the request's `redirect` mode applies, and other hosts are unreachable.
 */
export const createFetch =
  (handle: (request: Request) => Promise<Response>, origin: string): typeof fetch =>
  async (input, init) => {
    const request = new Request(input, init);
    const held = [input, init, request];
    underWay.add(held);
    try {
      return await travel(request, handle, origin);
    } finally {
      underWay.delete(held);
    }
  };
