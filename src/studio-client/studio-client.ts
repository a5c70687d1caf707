export interface StudioClientOptions {
  /** URL of the Studio in browsers, for example `https://studio.example`. */
  studioUrl: string;
  /** Operator key. */
  key: string;
  fetch?: typeof globalThis.fetch;
}

export interface StudioRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  body?: unknown;
  /** Revision that the request replaces. */
  ifMatch?: string | null;
}

/** Thrown if the Studio responds with a status other than 2xx. */
export class StudioError extends Error {
  readonly status: number;
  /** JSON body of the response; `{}` if it is not an object. */
  readonly body: Record<string, unknown>;

  constructor(status: number, message: string, body: Record<string, unknown>) {
    super(message);
    this.name = 'StudioError';
    this.status = status;
    this.body = body;
  }
}

const TIMEOUT_MS = 30_000;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const parseBody = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** Creates a client of the Studio API. Signs in with an operator key, and again after the session ends. */
export const createStudioClient = ({ studioUrl, key, fetch = globalThis.fetch }: StudioClientOptions) => {
  const { origin } = new URL(studioUrl);
  let cookie: string | null = null;

  const send = async (path: string, { method = 'GET', body, ifMatch }: StudioRequest): Promise<Response> => {
    const headers: Record<string, string> = { Accept: 'application/json' };
    // The Studio accepts writes only from its own origin.
    if (method !== 'GET') headers['Origin'] = origin;
    if (cookie !== null) headers['Cookie'] = cookie;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    if (ifMatch != null) headers['If-Match'] = `"${ifMatch}"`;
    try {
      return await fetch(origin + path, {
        method,
        headers,
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    } catch (cause) {
      throw new Error(`the Studio at ${origin} cannot be reached`, { cause });
    }
  };

  const read = async (response: Response): Promise<unknown> => {
    const parsed = parseBody(await response.text());
    if (response.ok) return parsed;
    const body = isObject(parsed) ? parsed : {};
    const message = typeof body['message'] === 'string' ? body['message'] : `status ${response.status}`;
    throw new StudioError(response.status, message, body);
  };

  const signIn = async (): Promise<void> => {
    cookie = null;
    const response = await send('/api/session', { method: 'POST', body: { key } });
    await read(response);
    const [session] = (response.headers.get('set-cookie') ?? '').split(';');
    if (!session) throw new Error(`${origin} is not a Studio: it opened no session`);
    cookie = session;
  };

  return {
    /** Returns the JSON body of a response. Throws `StudioError` if the status is not 2xx. */
    async request<Body>(path: string, request: StudioRequest = {}): Promise<Body> {
      if (cookie === null) await signIn();
      let response = await send(path, request);
      if (response.status === 401) {
        await signIn();
        response = await send(path, request);
      }
      return (await read(response)) as Body;
    },

    /** Returns the URL of a Studio page. */
    link: (path: string): string => origin + path,
  };
};

export type StudioClient = ReturnType<typeof createStudioClient>;
