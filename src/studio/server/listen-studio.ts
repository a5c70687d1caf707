import { createServer } from 'node:http';
import {
  createServerEnd,
  errorFacts,
  exchangeOf,
  type Log,
  openPort,
  silentLog,
  writeReply,
} from '../../service/index.ts';
import { clientAddress, readTrustedProxies } from './client-address.ts';
import type { Studio } from './create-studio.ts';

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const LINGER_MS = 50;
const DRAIN_MS = 2_000;

export interface ListeningStudio {
  /** Where it listens, without a slash at the end. */
  url: string;
  /** Takes no more requests, and resolves once those under way are answered. The store stays open. */
  stop(): Promise<void>;
}

interface ListenStudioOptions {
  port?: number;
  host?: string;
  log?: Log;
  /** Addresses and subnets of proxies in front of it, such as `127.0.0.1, 10.0.0.0/8`. Default none. */
  trustedProxies?: string;
}

/** Serves the Studio on a port of its own: another origin than the API, so that no page there can act here. */
export const listenStudio = async (
  studio: Studio,
  { port = 8788, host = '127.0.0.1', log = silentLog, trustedProxies }: ListenStudioOptions = {},
): Promise<ListeningStudio> => {
  const proxies = readTrustedProxies(trustedProxies ?? '');
  const server = createServer(
    { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => {
      const exchange = exchangeOf(request, () => undefined);
      studio
        .handle({
          ...exchange,
          address: clientAddress(request.socket.remoteAddress ?? '', exchange.header, proxies),
        })
        .then((reply) => writeReply(request, response, reply, !server.listening))
        .catch((error: unknown) => {
          log.error(errorFacts(error), 'Studio answer not written');
          response.destroy();
        });
    },
  );
  const end = createServerEnd(server, { lingerMs: LINGER_MS, drainMs: DRAIN_MS });
  const { url } = await openPort(server, port, host);
  return { url, stop: end };
};
