import {
  ANY_ORIGIN,
  ERROR_MESSAGES,
  type ErrorFormat,
  errorBody,
  INTEGRATIONS_PATH,
  MAX_BODY_BYTES,
  PLACEMENTS_PATH,
  preflightHeaders,
  SYNC_PATH,
  TRACK_PATH,
  USER_TOKEN_HEADER,
  USER_TOKEN_MEMBER,
  USERS_TRACK_PATH,
  type UserTokenFault,
  utf8Bytes,
  VISITOR_JOIN_PATH,
} from '../protocol/index.ts';
import type { FakeResponse } from './fake-response.ts';
import { ConnectionDropped, type Fault } from './fault.ts';

/** Recorded request. `status` is missing if there was no response. */
export interface RecordedRequest {
  /** Unix milliseconds by the service's clock. */
  at: number;
  method: string;
  path: string;
  query: string;
  headers: Headers;
  /** Parsed body; text if it is not JSON. */
  body: unknown;
  /** Body as sent, to check that retries are byte-identical. */
  text: string;
  status?: number;
  fault?: Fault;
}

/** Endpoint of the fake, with the kind of key it requires. */
interface FakeEndpoint {
  method: string;
  dialect: ErrorFormat;
  key: 'client' | 'server';
}

export const ENDPOINTS: Record<string, FakeEndpoint> = {
  [SYNC_PATH]: { method: 'POST', dialect: 'sync', key: 'client' },
  [TRACK_PATH]: { method: 'POST', dialect: 'track', key: 'client' },
  [PLACEMENTS_PATH]: { method: 'POST', dialect: 'track', key: 'client' },
  [VISITOR_JOIN_PATH]: { method: 'POST', dialect: 'track', key: 'client' },
  [USERS_TRACK_PATH]: { method: 'POST', dialect: 'general', key: 'server' },
  [INTEGRATIONS_PATH]: { method: 'GET', dialect: 'general', key: 'server' },
};

/** Returns whether CORS allows pages of any origin to call the path. */
export const isOpenToPages = (path: string): boolean => ENDPOINTS[path]?.key === 'client';

/** Returns the methods in the `Allow` header of a 405. */
const allowedMethods = ({ method, key }: FakeEndpoint): string => {
  if (method === 'GET') return 'GET, HEAD';
  return key === 'client' ? `${method}, OPTIONS` : method;
};

interface Gate {
  keys: Record<FakeEndpoint['key'], string>;
  isJson: boolean;
  userToken: (userId: unknown, token: unknown) => UserTokenFault | null;
}

/** Returns the error of a request that is rejected before its body is read: by path, method, key, size, type or user token. */
export const findRefusal = (
  {
    path,
    method,
    headers,
    text,
    body,
  }: Pick<RecordedRequest, 'path' | 'method' | 'headers' | 'text' | 'body'>,
  { keys, isJson, userToken }: Gate,
): FakeResponse | undefined => {
  const endpoint = ENDPOINTS[path];
  const refuse = (status: number, message: string, more?: Record<string, string>): FakeResponse => ({
    status,
    body: errorBody(endpoint?.dialect ?? 'general', message),
    ...(more && { headers: more }),
  });
  if (!endpoint) return refuse(404, ERROR_MESSAGES.notFound);
  if (method !== endpoint.method) {
    return refuse(405, ERROR_MESSAGES.methodNotAllowed, { Allow: allowedMethods(endpoint) });
  }
  const key = /^Bearer (\S+)$/.exec(headers.get('authorization') ?? '')?.[1];
  if (key !== keys[endpoint.key]) {
    const isOtherKey = key === keys.client || key === keys.server;
    return isOtherKey && path !== SYNC_PATH
      ? refuse(403, ERROR_MESSAGES.accessDenied)
      : refuse(401, ERROR_MESSAGES.invalidKey);
  }
  if (endpoint.method === 'GET') return undefined;
  if (utf8Bytes(text) > MAX_BODY_BYTES) {
    return refuse(endpoint.key === 'client' ? 400 : 413, ERROR_MESSAGES.tooLarge);
  }
  if (!/^application\/json\s*(;|$)/i.test(headers.get('content-type') ?? '')) {
    return refuse(endpoint.key === 'client' ? 400 : 415, ERROR_MESSAGES.unsupportedMediaType);
  }
  if (!isJson) {
    // The general REST documentation has this text in `error`, so it is sent in both properties.
    const refusal = errorBody(endpoint.dialect, ERROR_MESSAGES.unparseable);
    return { status: 400, body: { ...refusal, error: ERROR_MESSAGES.unparseable } };
  }
  if (endpoint.key !== 'client') return undefined;
  const { external_user_id: userId, [USER_TOKEN_MEMBER]: token } = Object(body);
  const wrong = userToken(userId, token);
  return wrong === null
    ? undefined
    : refuse(401, ERROR_MESSAGES.invalidUserToken, { [USER_TOKEN_HEADER]: wrong });
};

export const preflightResponse = ({ headers }: Request): Response =>
  new Response(null, {
    status: 204,
    headers: preflightHeaders('GET, POST', headers.get('access-control-request-headers')),
  });

/** Statuses without a body. The `Response` constructor throws if it gets a body with them. */
const WITHOUT_BODY = [204, 205, 304];

/** Builds a response with the headers of its endpoint, truncated if the fault is `truncate`. */
export const createResponse = (path: string, answer: FakeResponse, fault: Fault | undefined): Response => {
  const { body: content } = answer;
  const isText = typeof content === 'string';
  const text = isText ? content : JSON.stringify(content);
  const hidden = fault?.type === 'rate-limit' && fault.form === 'hidden';
  const isOpen = isOpenToPages(path);
  const headers = {
    'Content-Type': isText ? 'text/html; charset=utf-8' : 'application/json',
    ...(isOpen && ANY_ORIGIN),
    ...answer.headers,
  };
  if (hidden) Reflect.deleteProperty(headers, 'Access-Control-Expose-Headers');
  const { status } = answer;
  if (WITHOUT_BODY.includes(status)) return new Response(null, { status, headers });
  if (fault?.type !== 'truncate') return new Response(text, { status, headers });
  const half = new TextEncoder().encode(text.slice(0, text.length / 2));
  const body = new ReadableStream(
    {
      start(controller) {
        controller.enqueue(half);
        if (!fault.broken) controller.close();
      },
      pull(controller) {
        // Not in `start`, because an immediate error would discard the half that was already sent.
        controller.error(new ConnectionDropped('Connection lost during the response'));
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status, headers });
};
