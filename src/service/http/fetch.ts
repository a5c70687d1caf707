import { collectBytes, type HttpRequest, type HttpResponse } from './http-request.ts';
import { REQUEST_ID_HEADER, toRequestId } from './request-id.ts';

/** Reads the body up to a limit. Returns `null` if it is longer. */
const bounded = async (request: Request, maxBytes: number): Promise<Uint8Array | null> => {
  const body = collectBytes(maxBytes);
  const reader = request.body?.getReader();
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    if (!body.add(value)) {
      await reader.cancel();
      return null;
    }
  }
  return body.bytes();
};

/** Statuses for which `Response` requires an empty body. */
const EMPTY = [204, 304];

/** Adapts the API to the platform's `Request` and `Response`. */
export const createFetch =
  (handle: (request: HttpRequest) => Promise<HttpResponse>) =>
  async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    const requestId = toRequestId(request.headers.get(REQUEST_ID_HEADER) ?? undefined);
    const { status, headers, body } = await handle({
      method: request.method,
      path: url.pathname,
      search: url.search.slice(1),
      address: '',
      requestId,
      header: (name) => request.headers.get(name) ?? undefined,
      body: (maxBytes) => bounded(request, maxBytes),
    });
    const isEmpty = EMPTY.includes(status) || request.method === 'HEAD';
    return new Response(
      isEmpty ? null : typeof body === 'string' || !Array.isArray(body) ? body : new Blob(body),
      {
        status,
        headers: { ...headers, [REQUEST_ID_HEADER]: requestId, Date: new Date().toUTCString() },
      },
    );
  };
