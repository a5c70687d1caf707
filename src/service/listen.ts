import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createEndOfTurn } from './end-of-turn.ts';
import type { Exchange, Reply } from './gate/reply.ts';
import { createReceiving, exchangeOf, writeReply } from './http-exchange.ts';
import { errorFacts, type Log, silentLog } from './log.ts';
import { openPort } from './open-port.ts';
import { createServerEnd } from './server-end.ts';
import type { Service } from './service.ts';

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
}

/** A port that is served. */
export interface ServedPort {
  /** Where it listens, without a slash at the end. */
  url: string;
  port: number;
  /** Takes no more connections, answers what is still on its way over open ones, and waits for open requests. */
  stop(): Promise<void>;
}

/** The edge of every port, the API's and the Studio's: sockets below it, exchanges and replies above. */
export const servePort = async (
  handle: (exchange: Exchange) => Promise<Reply>,
  {
    port = 8787,
    host = '127.0.0.1',
    log = silentLog,
    files,
    headersTimeoutMs = HEADERS_TIMEOUT_MS,
    requestTimeoutMs = REQUEST_TIMEOUT_MS,
    lingerMs = LINGER_MS,
    drainMs = DRAIN_MS,
  }: ListenOptions,
): Promise<ServedPort> => {
  const atEndOfTurn = createEndOfTurn();
  const receiving = createReceiving();
  const answer = (request: IncomingMessage, response: ServerResponse, invite: () => void) => {
    const failed = (error: unknown) => {
      log.error(errorFacts(error), 'answer not written');
      response.destroy();
    };
    const serve = async () => {
      if (files && (await files(request, response))) return;
      const reply = await handle(exchangeOf(request, receiving, invite));
      atEndOfTurn(() => {
        try {
          writeReply(request, response, reply, !server.listening);
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
  const stop = createServerEnd(server, { lingerMs, drainMs });
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
    answer(request, response, () => response.writeContinue()),
  );
  return { ...(await openPort(server, port, host)), stop };
};

/** A service that listens. */
export interface Listening extends ServedPort {
  /** As of any port; then it closes the service. */
  stop(): Promise<void>;
}

/** Serves a service on a port. Rejects where the port cannot be had. */
export const listen = async (service: Service, options: ListenOptions = {}): Promise<Listening> => {
  const served = await servePort(service.handle, options);
  return {
    ...served,
    stop: async () => {
      service.drain();
      await served.stop();
      await service.close();
    },
  };
};
