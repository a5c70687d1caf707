/** An answer of the server that is no success; `body` has what it says beside the message. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly body: Record<string, unknown>;

  constructor(status: number, body: Record<string, unknown>) {
    const { message } = body;
    // What a server says of its own failures is for developers.
    if (status >= 500) super('Something went wrong. Nothing was changed that is not shown.');
    else super(typeof message === 'string' ? message : `The server answered ${status}`);
    this.status = status;
    this.body = body;
  }
}

interface CallOptions {
  body?: unknown;
  /** The revision that a change is made over. */
  ifMatch?: string | null;
  signal?: AbortSignal;
  /** The page is being left: the browser finishes the request without it. */
  keepalive?: boolean;
}

let whenSignedOut: () => void = () => undefined;

/** Called when an answer says that the session is over. */
export const onSignedOut = (call: () => void): void => {
  whenSignedOut = call;
};

/** Asks the Studio's server. Rejects with an `ApiError`, or with the browser's own error where nothing answers. */
export const call = async <Answer>(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  { body, ifMatch, signal, keepalive = false }: CallOptions = {},
): Promise<Answer> => {
  const response = await fetch(path, {
    method,
    keepalive,
    ...(signal && { signal }),
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(ifMatch && { 'if-match': `"${ifMatch}"` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer = text === '' ? {} : JSON.parse(text);
  if (response.ok) return answer;
  if (response.status === 401 && path !== '/api/session') whenSignedOut();
  throw new ApiError(response.status, answer);
};

/** Something that the page itself refuses to do; the message says why. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** What to tell of an error, in a sentence. */
export const describeError = (error: unknown): string =>
  error instanceof ApiError || error instanceof Refused
    ? error.message
    : 'The server does not answer. Check the connection and try again.';
