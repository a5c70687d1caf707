/** Content of a response: a `body` to send as JSON, a `text`, or the UTF-8 `parts` of a long text. */
export type HandlerContent = { headers?: Record<string, string> | undefined } & (
  | { body: unknown }
  | { text: string }
  | { parts: Uint8Array<ArrayBuffer>[] }
  /** Bytes that stay in memory anyway, so unread responses with shared bytes need no limit. */
  | { shared: Uint8Array<ArrayBuffer> }
);

/** Result of a handler. */
export type HandlerResult = { status: number } & HandlerContent;

/** Error response, formatted by the router. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  /** Further fields of the body, such as `errors`. */
  readonly members: Record<string, unknown> | undefined;
  readonly headers: Record<string, string> | undefined;
  /** Reason for the log. Default: the message. */
  readonly reason: string;

  constructor(
    status: number,
    message: string,
    more: { members?: Record<string, unknown>; headers?: HandlerResult['headers']; reason?: string } = {},
  ) {
    super(message);
    this.status = status;
    this.members = more.members;
    this.headers = more.headers;
    this.reason = more.reason ?? message;
  }
}

const RETRY_SECONDS = '1';

/** Returns a 503 with `Retry-After`. Use it only if nothing of the request was stored. */
export const serviceUnavailable = (message: string): HttpError =>
  new HttpError(503, message, { headers: { 'Retry-After': RETRY_SECONDS } });

/** HTTP request whose head is parsed. */
export interface HttpRequest {
  method: string;
  /** Path as sent, without the query. */
  path: string;
  /** Query without the `?`, or `''`. */
  search: string;
  /** IP address of the peer, or `''` if the request has no socket. */
  address: string;
  /** Identifies the request in the log, and in the response as `X-Request-Id`. */
  requestId: string;
  /** Returns a header. `name` is in lower case. */
  header(name: string): string | undefined;
  /** Returns the body as sent, or `null` if it is longer than `maxBytes`. Throws an `HttpError` if the connection breaks. */
  body(maxBytes: number): Promise<Uint8Array | null>;
}

/** Initial size of the buffer for a body of several chunks. The buffer doubles when full. */
const FIRST_BYTES = 64 * 1024;
const NOTHING = new Uint8Array(0);

/**
 * Concatenates the chunks of a body. A single chunk is not copied. Several chunks are copied, because a chunk of one byte takes
 * over 100 bytes as an object. The buffer grows with the bytes received, not with the declared length.
 */
export const collectBytes = (maxBytes: number) => {
  let buffer: Uint8Array = NOTHING;
  let length = 0;
  const clear = () => {
    buffer = NOTHING;
    length = 0;
  };
  return {
    forget: clear,
    /** Returns `false`, and discards all chunks, if the body exceeds `maxBytes`. */
    add(chunk: Uint8Array): boolean {
      const end = length + chunk.byteLength;
      if (end > maxBytes) {
        clear();
        return false;
      }
      if (length === 0) buffer = chunk;
      else {
        if (end > buffer.byteLength) {
          const larger = Buffer.allocUnsafe(
            Math.min(maxBytes, Math.max(FIRST_BYTES, 2 * buffer.byteLength, end)),
          );
          larger.set(buffer.subarray(0, length));
          buffer = larger;
        }
        buffer.set(chunk, length);
      }
      length = end;
      return true;
    },
    bytes: (): Uint8Array => (length === buffer.byteLength ? buffer : buffer.subarray(0, length)),
  };
};

/** Response to write. */
export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  /** A `Uint8Array` contains shared bytes; see `HandlerContent`. */
  body: string | Uint8Array<ArrayBuffer>[] | Uint8Array<ArrayBuffer>;
}

export const JSON_HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
};
