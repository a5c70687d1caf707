import type { IncomingMessage, ServerResponse } from 'node:http';
import { getHeapStatistics } from 'node:v8';
import { collectBytes, type Exchange, HttpError, notNow, type Reply } from './exchange.ts';

/**
 * Chunks of one body. One of a single byte costs as much as one of thousands: millions of them would keep all others
 * waiting. A client that writes each token of 4 MB as a chunk of its own has fewer.
 */
const MAX_CHUNKS = 200_000;
/** A connection that was refused early may send this much more, this long, so that it can read why. */
const LINGER_BYTES = 8 * 1024 * 1024;
const LINGER_CHUNKS = 20_000;
const LINGER_MS = 2_000;

/** Bytes of all bodies that a port is receiving and that are not complete yet. */
const MAX_RECEIVING_BYTES = Math.max(16 * 1024 * 1024, Math.floor(getHeapStatistics().heap_size_limit / 32));

interface Incoming {
  bytes: number;
  /** Forgets the bytes that have come, and answers 503. */
  refuse(): void;
}

/**
 * Bounds what slow senders hold together. Past the bound the body that began to come first is refused: a sender who is
 * quick is never the oldest, so senders who drip many large bodies refuse one another.
 */
export const createReceiving = (maxBytes = MAX_RECEIVING_BYTES) => {
  const bodies = new Set<Incoming>();
  let all = 0;
  return {
    begin(refuse: () => void): Incoming {
      const body = { bytes: 0, refuse };
      bodies.add(body);
      return body;
    },
    came(body: Incoming, bytes: number): void {
      body.bytes += bytes;
      all += bytes;
      for (const oldest of bodies) {
        if (all <= maxBytes) return;
        oldest.refuse();
      }
    },
    end(body: Incoming): void {
      if (bodies.delete(body)) all -= body.bytes;
    },
  };
};

type Receiving = ReturnType<typeof createReceiving>;

/** Collects the body; past `maxBytes`, or too many chunks, it stops keeping what comes. */
const bodyOf = (
  request: IncomingMessage,
  maxBytes: number,
  receiving: Receiving,
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
      reject(notNow('Too many requests are being received'));
    });
    const keep = (chunk: Buffer) => {
      chunks += 1;
      if (chunks <= MAX_CHUNKS && body.add(chunk)) {
        receiving.came(incoming, chunk.byteLength);
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

const targetOf = ({ url = '/' }: IncomingMessage): string => {
  if (url.startsWith('/') || !ORIGIN.test(url)) return url;
  const rest = url.replace(ORIGIN, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
};

/** Every value of a header, as `fetch` joins them. Of a repeated `Authorization` node keeps the first alone. */
const allOf = ({ rawHeaders }: IncomingMessage, name: string): string | undefined => {
  const values = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]!.toLowerCase() === name);
  return values.length > 0 ? values.join(', ') : undefined;
};

/** A request of node:http as the gate reads it. `invite` asks for the body of a client that waits for 100 Continue. */
export const exchangeOf = (request: IncomingMessage, receiving: Receiving, invite: () => void): Exchange => {
  const url = targetOf(request);
  const query = url.indexOf('?');
  return {
    method: request.method ?? 'GET',
    path: query < 0 ? url : url.slice(0, query),
    search: query < 0 ? '' : url.slice(query + 1),
    address: request.socket.remoteAddress ?? '',
    header: (name) => {
      if (name === 'authorization') return allOf(request, name);
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    body: (maxBytes) => {
      if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve(null);
      invite();
      return bodyOf(request, maxBytes, receiving);
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

/** Answers. With `isLast` the connection is closed, as it is where the client still sends a body that no route will read. */
export const writeReply = (
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Reply,
  isLast: boolean,
) => {
  if (response.destroyed) return;
  const unread = !request.complete && request.method !== 'GET' && request.method !== 'HEAD';
  const isEmpty = status === 204 || request.method === 'HEAD';
  const parts = typeof body === 'string' ? [body] : body;
  const head: Record<string, string | number> = { ...headers };
  if (status !== 204) head['Content-Length'] = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  if (unread || isLast) head['Connection'] = 'close';
  response.writeHead(status, head);
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
