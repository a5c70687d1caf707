import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTick } from 'node:timers/promises';
import { createLogThrottle, type Log, serializeError, silentLog } from '../log.ts';
import { withTimeout } from '../with-timeout.ts';
import { type HttpRequest, type HttpResponse, JSON_HEADERS } from './http-request.ts';
import {
  createUnreadLimiter,
  createUploadLimiter,
  hasSeveralHosts,
  toHttpRequest,
  writeResponse,
} from './node-request.ts';
import { createRequestQueue } from './request-queue.ts';

/** Maximum queued jobs, because the first job of a longer queue would be delayed. */
const MAX_WAITING = 64;

/**
 * Runs jobs together at the end of the current event loop turn. Batching makes socket writes cheaper, because their main cost is
 * waking the reader, and only the first write wakes it.
 */
export const createTickBatcher = () => {
  let jobs: (() => void)[] = [];
  let isScheduled = false;

  const run = () => {
    const due = jobs;
    jobs = [];
    for (const job of due) job();
  };

  /** A job must not throw. */
  return (job: () => void): void => {
    jobs.push(job);
    if (jobs.length >= MAX_WAITING) run();
    else if (!isScheduled) {
      isScheduled = true;
      setImmediate(() => {
        isScheduled = false;
        run();
      });
    }
  };
};

/** Starts listening. Resolves with the port and the URL without a trailing slash. Rejects if the port is not available. */
const openPort = async (
  server: Server,
  port: number,
  host: string,
): Promise<{ url: string; port: number }> => {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server listens on no port');
  const shownHost = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return { url: `http://${shownHost}:${address.port}`, port: address.port };
};

interface GracefulShutdownOptions {
  /** Maximum time for a connection without a request to send one, in milliseconds. */
  lingerMs: number;
  /** Maximum time for open requests to finish after `lingerMs`, in milliseconds. */
  drainMs: number;
}

/** Kernel backlog, needed because Node accepts one connection per event loop turn. */
const BACKLOG = 511;

/** Accepts pending connections, because the kernel resets them once the server stops listening. */
const acceptPending = async (server: Server): Promise<void> => {
  let isQuiet = false;
  const accept = () => {
    isQuiet = false;
  };
  server.on('connection', accept);
  await nextTick();
  for (let turn = 0; turn < BACKLOG && !isQuiet; turn += 1) {
    isQuiet = true;
    await nextTick();
  }
  server.off('connection', accept);
};

/**
 * Prepares a graceful shutdown. The returned function stops accepting connections, and resolves when the last one is closed. Once
 * the server stops listening, responses should send `Connection: close`, so that a client with a request in flight does not reuse
 * the connection. Idle connections are closed after `lingerMs`.
 */
const createGracefulShutdown = (server: Server, { lingerMs, drainMs }: GracefulShutdownOptions) => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  return async (): Promise<void> => {
    await acceptPending(server);
    // Bypasses the `close` of http, which ends idle connections at once and so resets requests in flight.
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    await withTimeout(closed, lingerMs);
    // Timers run before pending input is read. At the end of the turn, a connection with input is no longer idle.
    await nextTick();
    // Closes idle connections, and ends http's timer for slow requests.
    server.close();
    // Browsers preconnect. Node does not count a connection without any data as idle.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    const late = setTimeout(() => server.closeAllConnections(), drainMs);
    await closed;
    clearTimeout(late);
  };
};

/** Timeouts of a request head and of a whole request. Node then responds with 408 and closes the connection. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_MS = 65_000;
/**
 * Defaults of `lingerMs` and `drainMs`. Together with the time to close the store, they stay within the ten seconds before Docker
 * kills the process.
 */
const LINGER_MS = 150;
const DRAIN_MS = 4_000;

/** Address, shutdown timeouts and buffer limit of a listening service. */
export interface ListenOptions {
  /** Port. 0 selects a free port. Default 8787. */
  port?: number;
  /** Host name or IP address. Default 127.0.0.1. */
  host?: string;
  log?: Log;
  /** Serves requests that match no endpoint, such as the demo's files. Returns `false` if it does not handle the request. */
  files?: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;
  headersTimeoutMs?: number;
  requestTimeoutMs?: number;
  /** Maximum time at shutdown for a connection without a request to send one, in milliseconds. Default 150. */
  lingerMs?: number;
  /**
   * Maximum time at shutdown for open requests to finish after `lingerMs`, in milliseconds. Incomplete requests are then closed.
   * Default 4,000.
   */
  drainMs?: number;
  /**
   * Maximum bytes of unread responses. Above this limit, the oldest connection is closed. Default: an eighth of the heap, at
   * least 64 MiB.
   */
  maxUnreadBytes?: number;
}

/** Listening port. */
export interface ServedPort {
  /** URL without a trailing slash. */
  url: string;
  port: number;
  /** Stops accepting connections, responds to requests in flight, and waits for open requests. */
  stop(): Promise<void>;
}

const SEVERAL_HOSTS: HttpResponse = {
  status: 400,
  headers: JSON_HEADERS,
  body: JSON.stringify({ message: 'The request has several Host headers' }),
};

/** Serves HTTP on a port, for the API and the Studio. */
export const servePort = async (
  handle: (request: HttpRequest) => Promise<HttpResponse>,
  {
    port = 8787,
    host = '127.0.0.1',
    log = silentLog,
    files,
    headersTimeoutMs = HEADERS_TIMEOUT_MS,
    requestTimeoutMs = REQUEST_TIMEOUT_MS,
    lingerMs = LINGER_MS,
    drainMs = DRAIN_MS,
    maxUnreadBytes,
  }: ListenOptions,
): Promise<ServedPort> => {
  const atEndOfTick = createTickBatcher();
  const receiving = createUploadLimiter();
  const inOrder = createRequestQueue();
  const shouldLog = createLogThrottle();
  const unread = createUnreadLimiter((bytes) => {
    if (shouldLog('unread', performance.now()))
      log.warn({ bytes }, 'response dropped: the client does not read it');
  }, maxUnreadBytes);
  const respond = (request: IncomingMessage, response: ServerResponse, writeContinue: () => void) => {
    const failed = (error: unknown) => {
      log.error(serializeError(error), 'response not written');
      response.destroy();
    };
    const serve = async () => {
      if (files && (await files(request, response))) return;
      const httpRequest = toHttpRequest(request, receiving, writeContinue);
      const isBad = hasSeveralHosts(request);
      const result = isBad ? SEVERAL_HOSTS : await handle(httpRequest);
      atEndOfTick(() => {
        try {
          const isLast = isBad || !server.listening;
          writeResponse(request, response, result, { isLast, requestId: httpRequest.requestId, unread });
        } catch (error) {
          failed(error);
        }
      });
    };
    inOrder(request, response, () => void serve().catch(failed));
  };
  const server = createServer(
    {
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: Math.min(5_000, headersTimeoutMs),
    },
    (request, response) => respond(request, response, () => undefined),
  );
  const stop = createGracefulShutdown(server, { lingerMs, drainMs });
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
    respond(request, response, () => response.writeContinue()),
  );
  return { ...(await openPort(server, port, host)), stop };
};
