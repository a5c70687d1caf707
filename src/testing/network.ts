import { ConnectionDropped } from './fault.ts';

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);
const MAX_REDIRECTS = 20;

/** The error with which a browser reports any failure between it and the server. */
const networkError = (cause: unknown): TypeError => new TypeError('Failed to fetch', { cause });

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

/** The next request after a redirect, with what a browser keeps of it: a key does not cross origins. */
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

/** The request's way to the handler and back, over redirects. */
const travel = async (
  first: Request,
  handle: (request: Request) => Promise<Response>,
  origin: string,
): Promise<Response> => {
  let request = first;
  for (let count = 0; count <= MAX_REDIRECTS; count += 1) {
    if (new URL(request.url).origin !== origin) throw networkError(`No server answers at ${request.url}`);
    const body = request.body ? await request.clone().text() : '';
    const { signal } = request;
    // A request that is aborted before it leaves reaches no server.
    signal.throwIfAborted();
    let response: Response;
    try {
      response = await Promise.race([handle(request), aborted(signal)]);
    } catch (error) {
      throw error instanceof ConnectionDropped ? networkError(error) : error;
    }
    if (!isRedirect(response.status) || request.redirect === 'manual') return response;
    if (request.redirect === 'error') throw networkError('Redirects are refused');
    request = redirected(request, response, body);
  }
  throw networkError('Too many redirects');
};

/**
 * What hangs has no owner, perhaps not even its test, and Node's Request follows the signal of the one it was made
 * from only weakly: without this an abort would be collected as garbage before it could fire.
 */
const underWay = new Set<unknown>();

/**
 * A `fetch` in front of a handler that fails as a browser's does: a dropped connection is a `TypeError`, an abort
 * rejects with its reason, redirects are followed or refused as the request says, and no other server answers.
 */
export const networkOf =
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
