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
import { createPipeline } from './pipeline.ts';

/** More than this are not kept waiting: the first of a long queue would be answered late. */
const MAX_WAITING = 64;

/**
 * Runs jobs together once all that came in this turn of the event loop was worked on. For writes to sockets: the first
 * wakes the reader at the other end, which is what a write costs most, and the others find it awake.
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

/** Has the server listen. Resolves with the port, and with the address without a slash at the end; rejects where the port cannot be had. */
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
  /** How long a connection without a request may still bring one, in milliseconds. */
  lingerMs: number;
  /** How long open requests get to end after that, in milliseconds. */
  drainMs: number;
}

/** As many connections as the system keeps waiting for node, which takes one a turn. */
const BACKLOG = 511;

/** Accepts the clients that have connected: when listening ends, the system resets the connections that were not accepted. */
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
 * Readies a server for its end. What it answers takes no more connections, and resolves when the last is closed. Once it
 * does not listen, answers should say `Connection: close`: a client whose next request is on its way reads it then.
 * Sooner it would come back only to find the door closing. One that stays silent is closed after `lingerMs`.
 */
const createGracefulShutdown = (server: Server, { lingerMs, drainMs }: GracefulShutdownOptions) => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  return async (): Promise<void> => {
    await acceptPending(server);
    // Not http's own `close`, which ends connections that look idle at once: requests on their way would be reset.
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    await withTimeout(closed, lingerMs);
    // A timer runs before what has come is read: at this turn's end it is no longer idle.
    await nextTick();
    // Closes what is idle, and ends http's own timer for slow requests.
    server.close();
    // Browsers open connections ahead of need; for node, one that has never said a word is not idle.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    const late = setTimeout(() => server.closeAllConnections(), drainMs);
    await closed;
    clearTimeout(late);
  };
};

/** A head, and a whole request, must have come after this long; node answers 408 and closes. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_MS = 65_000;
/**
 * When the service stops, what busy clients have on their way gets this long to come in, and open requests this long to
 * end. With what the store takes after that it stays within the ten seconds that docker waits before it kills.
 */
const LINGER_MS = 150;
const DRAIN_MS = 4_000;

/** Where the service listens, and how long it waits for others. */
export interface ListenOptions {
  /** 0 lets the system choose. Default 8787. */
  port?: number;
  /** Default 127.0.0.1. */
  host?: string;
  log?: Log;
  /** Serves what is no endpoint, such as the demo's files; answers `false` for what is not its own. */
  files?: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;
  headersTimeoutMs?: number;
  requestTimeoutMs?: number;
  /** When it stops, a connection that has no request gets this long to bring one, in milliseconds. Default 150. */
  lingerMs?: number;
  /** And open requests get this long to end after that; one that is only half sent is closed then. Default 4,000. */
  drainMs?: number;
  /** Bytes of answers that clients have not read; past it the oldest connection is closed. Default an eighth of the heap, 64 MiB at least. */
  maxUnreadBytes?: number;
}

/** A port that is served. */
export interface ServedPort {
  /** Where it listens, without a slash at the end. */
  url: string;
  port: number;
  /** Takes no more connections, answers what is still on its way over open ones, and waits for open requests. */
  stop(): Promise<void>;
}

const SEVERAL_HOSTS: HttpResponse = {
  status: 400,
  headers: JSON_HEADERS,
  body: JSON.stringify({ message: 'The request has several Host headers' }),
};

/** The edge of every port, the API's and the Studio's: sockets below, HTTP requests and responses above. */
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
  const inOrder = createPipeline();
  const isDue = createLogThrottle();
  const unread = createUnreadLimiter((bytes) => {
    if (isDue('unread', performance.now()))
      log.warn({ bytes }, 'response dropped: the client does not read it');
  }, maxUnreadBytes);
  const respond = (request: IncomingMessage, response: ServerResponse, invite: () => void) => {
    const failed = (error: unknown) => {
      log.error(serializeError(error), 'response not written');
      response.destroy();
    };
    const serve = async () => {
      if (files && (await files(request, response))) return;
      const httpRequest = toHttpRequest(request, receiving, invite);
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
