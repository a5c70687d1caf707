import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEndOfTurn } from './end-of-turn.ts';
import type { Exchange, Reply } from './gate/exchange.ts';
import { HttpError } from './gate/http-error.ts';
import { errorFacts, type Log, silentLog } from './log.ts';
import { ownPeerUrl, peerUrlOf } from './replicas/peer-url.ts';
import type { Service } from './service.ts';

/** A head, and a whole request, must have come after this long; node answers 408 and closes. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_MS = 65_000;
/** A connection that was refused early may send this much more, this long, so that it can read why. */
const LINGER_BYTES = 8 * 1024 * 1024;
const LINGER_MS = 2_000;
/** Open requests get this long to end when the service stops. */
const DRAIN_MS = 10_000;

export interface ListenOptions {
  /** 0 lets the system choose. Default 8787. */
  port?: number;
  /** Default 127.0.0.1. */
  host?: string;
  /**
   * Where other replicas of the database reach this one, for example `http://10.0.0.5:8787`. Default: where it listens,
   * unless that is every address of the machine; then it shares no users with others.
   */
  peerUrl?: string;
  log?: Log;
  /** Serves what is no endpoint, such as the demo's files; answers `false` for what is not its own. */
  files?: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;
  headersTimeoutMs?: number;
  requestTimeoutMs?: number;
}

export interface Listening {
  /** Where it listens, without a slash at the end. */
  url: string;
  port: number;
  /** Where it has told other replicas that they reach it; `null` where it has not. */
  peerUrl: string | null;
  /** Tells other replicas, takes no more connections, waits for open requests, then closes the service. */
  stop(): Promise<void>;
}

/** Collects the body; past `maxBytes` it stops keeping what comes. */
const bodyOf = (request: IncomingMessage, maxBytes: number): Promise<Uint8Array | null> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const keep = (chunk: Buffer) => {
      length += chunk.length;
      if (length <= maxBytes) chunks.push(chunk);
      else {
        request.off('data', keep);
        resolve(null);
      }
    };
    // Every request closes in the end; making an error of it each time would cost more than reading the body.
    const brokenOff = () => {
      if (!request.complete) reject(new HttpError(400, 'The request broke off'));
    };
    request.on('data', keep);
    request.once('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length)));
    request.once('error', brokenOff);
    request.once('close', brokenOff);
  });

/** `invite` tells a client that asked first that its body is wanted. */
const exchangeOf = (request: IncomingMessage, invite: () => void): Exchange => {
  const url = request.url ?? '/';
  const query = url.indexOf('?');
  return {
    method: request.method ?? 'GET',
    path: query < 0 ? url : url.slice(0, query),
    search: query < 0 ? '' : url.slice(query + 1),
    header: (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    body: (maxBytes) => {
      if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve(null);
      invite();
      return bodyOf(request, maxBytes);
    },
  };
};

/** Reads on for a while and forgets it: a connection that is reset while it sends loses the answer. */
const linger = (request: IncomingMessage) => {
  let length = 0;
  const end = () => request.socket.destroy();
  const timer = setTimeout(end, LINGER_MS);
  request.once('close', () => clearTimeout(timer));
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > LINGER_BYTES) end();
  });
  request.resume();
};

const write = (
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Reply,
  isLast: boolean,
) => {
  if (response.destroyed) return;
  const unread = !request.complete && request.method !== 'GET' && request.method !== 'HEAD';
  const isEmpty = status === 204 || request.method === 'HEAD';
  const head: Record<string, string | number> = { ...headers };
  if (status !== 204) head['Content-Length'] = Buffer.byteLength(body);
  if (unread || isLast) head['Connection'] = 'close';
  response.writeHead(status, head);
  response.end(isEmpty ? undefined : body);
  if (unread) linger(request);
};

/** Serves a service on a port. Rejects where the port cannot be had, or `peerUrl` is none. */
export const listen = async (
  service: Service,
  {
    port = 8787,
    host = '127.0.0.1',
    peerUrl,
    log = silentLog,
    files,
    headersTimeoutMs = HEADERS_TIMEOUT_MS,
    requestTimeoutMs = REQUEST_TIMEOUT_MS,
  }: ListenOptions = {},
): Promise<Listening> => {
  const saidUrl = peerUrl === undefined ? null : peerUrlOf('peerUrl', peerUrl);
  let stopping = false;
  const atEndOfTurn = createEndOfTurn();
  const answer = (request: IncomingMessage, response: ServerResponse, invite: () => void) => {
    const failed = (error: unknown) => {
      log.error(errorFacts(error), 'answer not written');
      response.destroy();
    };
    const serve = async () => {
      if (files && (await files(request, response))) return;
      const reply = await service.handle(exchangeOf(request, invite));
      atEndOfTurn(() => {
        try {
          write(request, response, reply, stopping);
        } catch (error) {
          failed(error);
        }
      });
    };
    serve().catch(failed);
  };
  const server = createServer(
    {
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: Math.min(5_000, headersTimeoutMs),
    },
    (request, response) => answer(request, response, () => undefined),
  );
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
    answer(request, response, () => response.writeContinue()),
  );

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address() as AddressInfo;
  const shownHost = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  const url = `http://${shownHost}:${address.port}`;
  const reachedAt = saidUrl ?? ownPeerUrl(url);
  if (reachedAt !== null) await service.join(reachedAt);
  return {
    url,
    port: address.port,
    peerUrl: reachedAt,
    stop: async () => {
      stopping = true;
      service.drain();
      await service.leave();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      const late = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      await closed;
      clearTimeout(late);
      await service.close();
    },
  };
};
