import type { Answer } from './route.ts';

/** Thrown anywhere below the gate to refuse a request; one place at the edge makes the answer of it. */
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
