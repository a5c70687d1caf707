import type { IncomingMessage, ServerResponse } from 'node:http';
import { getHeapStatistics } from 'node:v8';
import { type ByteBudget, createByteBudget } from './byte-budget.ts';
import {
  collectBytes,
  HttpError,
  type HttpRequest,
  type HttpResponse,
  serviceUnavailable,
} from './http-request.ts';
import { REQUEST_ID_HEADER, toRequestId } from './request-id.ts';

/**
 * Maximum chunks of one body. A chunk of one byte costs as much as a chunk of thousands, so millions of chunks would block other
 * requests. A client that writes each token of 4 MB as its own chunk stays below the limit.
 */
const MAX_CHUNKS = 200_000;
/** Maximum bytes that a client may send after an early rejection, for a limited time, so that it can read the response. */
const LINGER_BYTES = 8 * 1024 * 1024;
const LINGER_CHUNKS = 20_000;
const LINGER_MS = 2_000;

const MEBIBYTE = 1024 * 1024;
const HEAP_BYTES = getHeapStatistics().heap_size_limit;
const MAX_RECEIVING_BYTES = Math.max(16 * MEBIBYTE, Math.floor(HEAP_BYTES / 32));
const MAX_UNREAD_BYTES = Math.max(64 * MEBIBYTE, Math.floor(HEAP_BYTES / 8));
/** Minimum bytes of a response that is counted. Shorter responses fit into socket buffers. */
const MIN_COUNTED_BYTES = 16 * 1024;

/** Limits the bytes of incomplete bodies. */
export const createUploadLimiter = (maxBytes = MAX_RECEIVING_BYTES): ByteBudget => createByteBudget(maxBytes);

/** Collects the body. Stops buffering above `maxBytes`, or with too many chunks. */
const readBody = (
  request: IncomingMessage,
  maxBytes: number,
  receiving: ByteBudget,
): Promise<Uint8Array | null> =>
  new Promise((resolve, reject) => {
    // The client disconnected before the body was requested, so no more events arrive.
    if (request.destroyed) return reject(new HttpError(400, 'The request broke off'));
    const body = collectBytes(maxBytes);
    let chunks = 0;
    const stop = () => {
      request.off('data', keep);
      receiving.end(incoming);
    };
    const incoming = receiving.begin(() => {
      stop();
      body.forget();
      reject(serviceUnavailable('Too many requests are being received'));
    });
    const keep = (chunk: Buffer) => {
      chunks += 1;
      if (chunks <= MAX_CHUNKS && body.add(chunk)) {
        receiving.add(incoming, chunk.byteLength);
        return;
      }
      stop();
      resolve(null);
    };
    // Every request emits `close`. Creating an error each time would cost more than reading the body.
    const brokenOff = () => {
      if (request.complete) return;
      stop();
      reject(new HttpError(400, 'The request broke off'));
    };
    request.on('data', keep);
    request.once('end', () => {
      stop();
      resolve(body.bytes());
    });
    request.once('error', brokenOff);
    request.once('close', brokenOff);
  });

/** Origin of an absolute-form target. Servers must accept it, although clients send it only to proxies (RFC 9112, 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?#]*/i;

const getTarget = ({ url = '/' }: IncomingMessage): string => {
  if (url.startsWith('/') || !ORIGIN.test(url)) return url;
  const rest = url.replace(ORIGIN, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
};

const REQUEST_ID = REQUEST_ID_HEADER.toLowerCase();

/**
 * Returns whether a request has several `Host` headers, which proxies may interpret differently (RFC 9112, 3.2). Node keeps only
 * the first.
 */
export const hasSeveralHosts = ({ rawHeaders }: IncomingMessage): boolean => {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
};

/** Joins the values of a header like `fetch`. Node keeps only the first of a repeated `Authorization`. */
const joinHeader = ({ rawHeaders }: IncomingMessage, name: string): string | undefined => {
  let joined: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at]!;
    if (sent.length !== name.length || sent.toLowerCase() !== name) continue;
    const value = rawHeaders[at + 1]!;
    joined = joined === undefined ? value : `${joined}, ${value}`;
  }
  return joined;
};

/** Adapts a `node:http` request. `writeContinue` sends 100 Continue to a client that waits for it. */
export const toHttpRequest = (
  request: IncomingMessage,
  receiving: ByteBudget,
  writeContinue: () => void,
): HttpRequest => {
  const url = getTarget(request);
  const query = url.indexOf('?');
  return {
    method: request.method ?? 'GET',
    path: query < 0 ? url : url.slice(0, query),
    search: query < 0 ? '' : url.slice(query + 1),
    address: request.socket.remoteAddress ?? '',
    requestId: toRequestId(String(request.headers[REQUEST_ID] ?? '')),
    header: (name) => {
      if (name === 'authorization') return joinHeader(request, name);
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    body: (maxBytes) => {
      if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve(null);
      writeContinue();
      return readBody(request, maxBytes, receiving);
    },
  };
};

/** Reads and discards input for a limited time, because a connection reset during the upload would lose the response. */
const linger = (request: IncomingMessage) => {
  let length = 0;
  let chunks = 0;
  const end = () => request.socket.destroy();
  const timer = setTimeout(end, LINGER_MS);
  request.once('close', () => clearTimeout(timer));
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
    chunks += 1;
    if (length > LINGER_BYTES || chunks > LINGER_CHUNKS) end();
  });
  request.resume();
};

/** Limits the bytes of responses that clients do not read. `onDrop` is called for each one dropped. */
export const createUnreadLimiter = (onDrop: (bytes: number) => void, maxBytes = MAX_UNREAD_BYTES) => {
  const budget = createByteBudget(maxBytes);
  return (response: ServerResponse, bytes: number): void => {
    if (bytes < MIN_COUNTED_BYTES) return;
    const transfer = budget.begin(() => {
      budget.end(transfer);
      onDrop(bytes);
      response.destroy();
    });
    response.once('close', () => budget.end(transfer));
    budget.add(transfer, bytes);
  };
};

interface WriteOptions {
  /** Whether to close the connection after the response, for example if the client still sends a body that no route reads. */
  isLast: boolean;
  requestId: string;
  unread: ReturnType<typeof createUnreadLimiter>;
}

export const writeResponse = (
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  { isLast, requestId, unread: countUnread }: WriteOptions,
) => {
  if (response.destroyed) return;
  const unread = !request.complete && request.method !== 'GET' && request.method !== 'HEAD';
  const isEmpty = status === 204 || request.method === 'HEAD';
  const parts = Array.isArray(body) ? body : [body];
  const bytes = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  const head: (string | number)[] = [REQUEST_ID_HEADER, requestId];
  for (const name in headers) head.push(name, headers[name]!);
  if (status !== 204) head.push('Content-Length', bytes);
  if (unread || isLast) head.push('Connection', 'close');
  response.writeHead(status, head);
  if (!isEmpty && !(body instanceof Uint8Array)) countUnread(response, bytes);
  if (!unread) {
    // Most bodies have one part, which is sent with the head.
    const last = parts.length - 1;
    if (!isEmpty) for (const part of parts.slice(0, last)) response.write(part);
    response.end(isEmpty ? undefined : parts[last]);
    return;
  }
  // After `end`, Node closes a connection without keep-alive, and unread input would reset it.
  if (isEmpty) response.flushHeaders();
  else for (const part of parts) response.write(part);
  request.once('end', () => response.end());
  linger(request);
};
