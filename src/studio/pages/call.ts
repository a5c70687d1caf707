import { POLL_HEADER } from '../poll-header.ts';

/** Error response of the server. `body` contains its other members. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly body: Record<string, unknown>;

  constructor(status: number, body: Record<string, unknown>) {
    const { message } = body;
    // Replaces messages of 5xx responses, because they are for developers.
    if (status >= 500) super('Something went wrong. Reload and try again.');
    else super(typeof message === 'string' ? message : `The server responded with ${status}`);
    this.status = status;
    this.body = body;
  }
}

interface CallOptions {
  body?: unknown;
  /** Expected revision of the draft. */
  ifMatch?: string | null;
  signal?: AbortSignal;
  /** Whether the browser completes the request after page exit. */
  keepalive?: boolean;
}

/** Time without input, in milliseconds, after which requests are polls, which do not extend the session. */
const POLL_AFTER_MS = 60_000;
let lastInputMs = Date.now();
// Screen readers and dictation cause clicks and input without a pointer or a key.
for (const type of ['pointerdown', 'keydown', 'wheel', 'touchmove', 'click', 'input'])
  addEventListener(type, () => (lastInputMs = Date.now()), { capture: true, passive: true });

let whenSignedOut: () => void = () => undefined;

/** Registers a callback that is called if a response reports the end of the session. */
export const onSignedOut = (call: () => void): void => {
  whenSignedOut = call;
};

/** Sends a request to the Studio's API. Rejects with an `ApiError`, or with the browser's error if the network fails. */
export const call = async <ResponseBody>(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  { body, ifMatch, signal, keepalive = false }: CallOptions = {},
): Promise<ResponseBody> => {
  const response = await fetch(path, {
    method,
    keepalive,
    ...(signal && { signal }),
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(Date.now() - lastInputMs > POLL_AFTER_MS && { [POLL_HEADER]: '1' }),
      ...(ifMatch && { 'if-match': `"${ifMatch}"` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const parsed = text === '' ? {} : JSON.parse(text);
  if (response.ok) return parsed;
  if (response.status === 401 && path !== '/api/session') whenSignedOut();
  throw new ApiError(response.status, parsed);
};

/** Error of an action that the page itself rejects, with a message for the operator. */
export class ActionError extends Error {
  override readonly name = 'ActionError';
}

/** Returns the message of an error as a sentence. */
export const describeError = (error: unknown): string =>
  error instanceof ApiError || error instanceof ActionError
    ? error.message
    : 'Can’t reach the server. Check your connection and try again.';
