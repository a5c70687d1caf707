import type { Exchange, Reply } from './exchange.ts';

/** What the second chunk is copied into; it doubles from there. */
const FIRST_BYTES = 64 * 1024;
const NOTHING = new Uint8Array(0);

/**
 * Puts the chunks of a body together. The usual body is one chunk, which is kept as it came. More are copied: a chunk
 * of one byte takes more than a hundred as an object of its own. The buffer grows with the bytes that came, not
 * with the length that was declared.
 */
export const collectBytes = (maxBytes: number) => {
  let kept: Uint8Array = NOTHING;
  let length = 0;
  const forget = () => {
    kept = NOTHING;
    length = 0;
  };
  return {
    forget,
    /** `false` where it is more than `maxBytes` with this one: what came before is forgotten. */
    add(chunk: Uint8Array): boolean {
      const end = length + chunk.byteLength;
      if (end > maxBytes) {
        forget();
        return false;
      }
      if (length === 0) kept = chunk;
      else {
        if (end > kept.byteLength) {
          const larger = Buffer.allocUnsafe(
            Math.min(maxBytes, Math.max(FIRST_BYTES, 2 * kept.byteLength, end)),
          );
          larger.set(kept.subarray(0, length));
          kept = larger;
        }
        kept.set(chunk, length);
      }
      length = end;
      return true;
    },
    bytes: (): Uint8Array => kept.subarray(0, length),
  };
};

/** Reads a web stream up to a bound, and nothing beyond it. */
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

/** Statuses that a `Response` must make without a body. */
const EMPTY = [204, 304];

/** The API behind the platform's own `Request` and `Response`. */
export const createFetch =
  (handle: (exchange: Exchange) => Promise<Reply>) =>
  async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    const { status, headers, body } = await handle({
      method: request.method,
      path: url.pathname,
      search: url.search.slice(1),
      address: '',
      header: (name) => request.headers.get(name) ?? undefined,
      body: (maxBytes) => bounded(request, maxBytes),
    });
    const isEmpty = EMPTY.includes(status) || request.method === 'HEAD';
    return new Response(isEmpty ? null : body, {
      status,
      headers: { ...headers, Date: new Date().toUTCString() },
    });
  };
