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
 * Chunks of one body. One of a single byte costs as much as one of thousands: millions of them would keep all others
 * waiting. A client that writes each token of 4 MB as a chunk of its own has fewer.
 */
const MAX_CHUNKS = 200_000;
/** A connection that was refused early may send this much more, this long, so that it can read why. */
const LINGER_BYTES = 8 * 1024 * 1024;
const LINGER_CHUNKS = 20_000;
const LINGER_MS = 2_000;

const MEBIBYTE = 1024 * 1024;
const HEAP_BYTES = getHeapStatistics().heap_size_limit;
const MAX_RECEIVING_BYTES = Math.max(16 * MEBIBYTE, Math.floor(HEAP_BYTES / 32));
const MAX_UNREAD_BYTES = Math.max(64 * MEBIBYTE, Math.floor(HEAP_BYTES / 8));
/** Shorter answers fit into the buffers of a socket. */
const MIN_COUNTED_BYTES = 16 * 1024;

/** Bounds the bytes of incomplete bodies. */
export const createUploadLimiter = (maxBytes = MAX_RECEIVING_BYTES): ByteBudget => createByteBudget(maxBytes);

/** Collects the body; past `maxBytes`, or too many chunks, it stops keeping what comes. */
const readBody = (
  request: IncomingMessage,
  maxBytes: number,
  receiving: ByteBudget,
): Promise<Uint8Array | null> =>
  new Promise((resolve, reject) => {
    // A client that has gone before its body is asked for: nothing is heard of it any more.
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
    // Every request closes in the end; making an error of it each time would cost more than reading the body.
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

/** `http://host` before the path: a server must take that as well, though clients write it for proxies alone (RFC 9112, 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?#]*/i;

const getTarget = ({ url = '/' }: IncomingMessage): string => {
  if (url.startsWith('/') || !ORIGIN.test(url)) return url;
  const rest = url.replace(ORIGIN, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
};

const REQUEST_ID = REQUEST_ID_HEADER.toLowerCase();

/** A request with two hosts means one thing to a proxy and another here (RFC 9112, 3.2). Node keeps the first alone. */
export const hasSeveralHosts = ({ rawHeaders }: IncomingMessage): boolean => {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
};

/** Every value of a header, as `fetch` joins them. Of a repeated `Authorization` node keeps the first alone. */
const joinHeader = ({ rawHeaders }: IncomingMessage, name: string): string | undefined => {
  const values = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]!.toLowerCase() === name);
  return values.length > 0 ? values.join(', ') : undefined;
};

/** A request of node:http as the gate reads it. `invite` asks for the body of a client that waits for 100 Continue. */
export const toHttpRequest = (
  request: IncomingMessage,
  receiving: ByteBudget,
  invite: () => void,
): HttpRequest => {
  const url = getTarget(request);
  const query = url.indexOf('?');
  return {
    method: request.method ?? 'GET',
    path: query < 0 ? url : url.slice(0, query),
    search: query < 0 ? '' : url.slice(query + 1),
    address: request.socket.remoteAddress ?? '',
    requestId: toRequestId(request.headers[REQUEST_ID] as string | undefined),
    header: (name) => {
      if (name === 'authorization') return joinHeader(request, name);
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    body: (maxBytes) => {
      if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve(null);
      invite();
      return readBody(request, maxBytes, receiving);
    },
  };
};

/** Reads on for a while and forgets it: a connection that is reset while it sends loses the answer. */
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

/** Bounds the bytes of answers that clients do not read. `onDrop` is called with each one that is given up. */
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
  /** Closes the connection, as happens if the client still sends a body that no route will read. */
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
  const head: Record<string, string | number> = { ...headers, [REQUEST_ID_HEADER]: requestId };
  if (status !== 204) head['Content-Length'] = bytes;
  if (unread || isLast) head['Connection'] = 'close';
  response.writeHead(status, head);
  if (!isEmpty && !(body instanceof Uint8Array)) countUnread(response, bytes);
  if (!unread) {
    // The usual body is one, which goes out with the head.
    const last = parts.length - 1;
    if (!isEmpty) for (const part of parts.slice(0, last)) response.write(part);
    response.end(isEmpty ? undefined : parts[last]);
    return;
  }
  // Once it has ended, node closes a connection that is not to be kept: what is still sent would reset it.
  if (isEmpty) response.flushHeaders();
  else for (const part of parts) response.write(part);
  request.once('end', () => response.end());
  linger(request);
};
