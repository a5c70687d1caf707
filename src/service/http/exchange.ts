import { type ErrorDialect, errorBody, FATAL } from '../../protocol/index.ts';
import { errorFacts, type Log } from '../log.ts';
import { InDoubtError, RetryLaterError } from '../store/write-errors.ts';

/** What an endpoint answers: `body` is sent as JSON, `text` as it is. */
export type Answer = { status: number; headers?: Record<string, string> } & (
  | { body: unknown }
  | { text: string }
);

/** Thrown anywhere below the dispatcher to refuse a request: `refusalOf` makes the answer of it. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  /** Members that go beside the refusal's text, such as an endpoint's own `errors`. */
  readonly members: Record<string, unknown> | undefined;
  readonly headers: Record<string, string> | undefined;
  /** What the log says of it, for the operator. Default the text of the answer. */
  readonly why: string;

  constructor(
    status: number,
    message: string,
    more: { members?: Record<string, unknown>; headers?: Answer['headers']; why?: string } = {},
  ) {
    super(message);
    this.status = status;
    this.members = more.members;
    this.headers = more.headers;
    this.why = more.why ?? message;
  }
}

const RETRY_SECONDS = '1';

/** Nothing was taken, and the same may be taken in a moment. */
export const notNow = (message: string): HttpError =>
  new HttpError(503, message, { headers: { 'Retry-After': RETRY_SECONDS } });

/** A request of which nothing has been read but the head. */
export interface Exchange {
  method: string;
  /** The path as it came, without the query. */
  path: string;
  /** Without its `?`; `''` where there is none. */
  search: string;
  /** The IP address that sent it; `''` where it came through no socket. */
  address: string;
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
export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export const JSON_HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
};

/** The one place where an answer becomes text. `base` are the headers it begins with, those of JSON among them. */
export const replyOf = (answer: Answer, base: Record<string, string> = JSON_HEADERS): Reply => ({
  status: answer.status,
  headers: answer.headers ? { ...base, ...answer.headers } : base,
  body: 'text' in answer ? answer.text : JSON.stringify(answer.body),
});

/**
 * The one place where a failure becomes an answer: an error that is no `HttpError` is logged and becomes a plain 500,
 * which says that nothing was taken, or a 504 where that is not known.
 */
export const refusalOf = (
  error: unknown,
  dialect: ErrorDialect,
  log: Log,
  facts: Record<string, unknown>,
  base: Record<string, string> = JSON_HEADERS,
): Reply => {
  const refusal = error instanceof RetryLaterError ? notNow(FATAL.unavailable) : error;
  if (refusal instanceof HttpError) {
    const { status, message, members, headers } = refusal;
    const body = { ...errorBody(dialect, message), ...members };
    return replyOf({ status, body, ...(headers && { headers }) }, base);
  }
  log.error({ ...facts, ...errorFacts(error) }, 'request failed');
  if (error instanceof InDoubtError) {
    return replyOf({ status: 504, body: errorBody(dialect, FATAL.inDoubt) }, base);
  }
  return replyOf({ status: 500, body: errorBody(dialect, FATAL.internal) }, base);
};
