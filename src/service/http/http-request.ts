/** What an endpoint answers: `body` is sent as JSON, `text` as it is, or `parts` of a long text, in UTF-8, one after the other. */
export type HandlerResult = { status: number; headers?: Record<string, string> | undefined } & (
  | { body: unknown }
  | { text: string }
  | { parts: Uint8Array<ArrayBuffer>[] }
  /** Bytes that the process keeps anyway: sending them takes no memory. */
  | { shared: Uint8Array<ArrayBuffer> }
);

/** Thrown anywhere below the dispatcher to refuse a request. The dispatcher makes the answer of it. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  /** Members that go beside the refusal's text, such as an endpoint's own `errors`. */
  readonly members: Record<string, unknown> | undefined;
  readonly headers: Record<string, string> | undefined;
  /** The reason for the operator's log. Default: the text of the answer. */
  readonly why: string;

  constructor(
    status: number,
    message: string,
    more: { members?: Record<string, unknown>; headers?: HandlerResult['headers']; why?: string } = {},
  ) {
    super(message);
    this.status = status;
    this.members = more.members;
    this.headers = more.headers;
    this.why = more.why ?? message;
  }
}

const RETRY_SECONDS = '1';

/** A refusal of a request that may be sent again in a moment. Nothing of it was stored. */
export const serviceUnavailable = (message: string): HttpError =>
  new HttpError(503, message, { headers: { 'Retry-After': RETRY_SECONDS } });

/** A request. Only its head has been read. */
export interface HttpRequest {
  method: string;
  /** The path as it came, without the query. */
  path: string;
  /** Without its `?`; `''` where there is none. */
  search: string;
  /** The IP address that sent it; `''` where it came through no socket. */
  address: string;
  /** Identifies the request in the log, and in the response as `X-Request-Id`. */
  requestId: string;
  /** `name` in lower case. */
  header(name: string): string | undefined;
  /** Reads the body as it was sent: `null` where it is longer than `maxBytes`. Rejects with an `HttpError` where it breaks off. */
  body(maxBytes: number): Promise<Uint8Array | null>;
}

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

/** An answer ready to be written. */
export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  /** A `Uint8Array` of its own is shared, see `Answer`. */
  body: string | Uint8Array<ArrayBuffer>[] | Uint8Array<ArrayBuffer>;
}

export const JSON_HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
};
