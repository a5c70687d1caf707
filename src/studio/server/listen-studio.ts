import { type Log, type ServedPort, servePort } from '../../service/index.ts';
import { clientAddress, readTrustedProxies } from './client-address.ts';
import type { Studio } from './create-studio.ts';

const REQUEST_TIMEOUT_MS = 30_000;
const LINGER_MS = 50;
const DRAIN_MS = 2_000;

interface ListenStudioOptions {
  /** Default 8788. */
  port?: number;
  host?: string;
  log?: Log;
  /** Addresses and subnets of proxies in front of it, such as `127.0.0.1, 10.0.0.0/8`. Default none. */
  trustedProxies?: string;
}

/**
 * Serves the Studio on a port of its own: another origin than the API, so that no page there can act here. The store
 * stays open when it stops.
 */
export const listenStudio = (
  studio: Studio,
  { port = 8788, trustedProxies, ...options }: ListenStudioOptions = {},
): Promise<ServedPort> => {
  const proxies = readTrustedProxies(trustedProxies ?? '');
  return servePort(
    (exchange) =>
      studio.handle({ ...exchange, address: clientAddress(exchange.address, exchange.header, proxies) }),
    { port, ...options, requestTimeoutMs: REQUEST_TIMEOUT_MS, lingerMs: LINGER_MS, drainMs: DRAIN_MS },
  );
};
