import { BlockList, isIP } from 'node:net';
import { type Log, type ServedPort, servePort } from '../../service/index.ts';
import type { Studio } from './create-studio.ts';

/** Header with the client address, set by a reverse proxy. */
const FORWARDED = 'x-forwarded-for';

const getAddressFamily = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/**
 * Parses a comma-separated list of trusted proxy addresses and subnets, such as `127.0.0.1, 10.0.0.0/8`, which may be empty.
 * Throws if an entry is invalid.
 */
export const readTrustedProxies = (text: string): BlockList => {
  const proxies = new BlockList();
  for (const each of text.split(',').flatMap((part) => part.trim() || [])) {
    const slash = each.indexOf('/');
    const address = slash < 0 ? each : each.slice(0, slash);
    const bits = slash < 0 ? null : each.slice(slash + 1);
    const isSubnet =
      bits !== null && /^\d{1,3}$/.test(bits) && Number(bits) <= (isIP(address) === 6 ? 128 : 32);
    if (isIP(address) === 0 || (bits !== null && !isSubnet)) {
      throw new Error(`expected addresses and subnets such as 127.0.0.1, 10.0.0.0/8; got "${each}"`);
    }
    if (isSubnet) proxies.addSubnet(address, Number(bits), getAddressFamily(address));
    else proxies.addAddress(address, getAddressFamily(address));
  }
  return proxies;
};

/**
 * Returns the client address: the address of the connection or, if it is a trusted proxy, the last address in `X-Forwarded-For`
 * that is not a trusted proxy. The client can forge earlier entries.
 */
export const clientAddress = (
  connection: string,
  header: (name: string) => string | undefined,
  proxies: BlockList,
): string => {
  const forwarded = header(FORWARDED)?.split(',') ?? [];
  let address = connection;
  while (isIP(address) !== 0 && proxies.check(address, getAddressFamily(address))) {
    const before = forwarded.pop()?.trim();
    if (before === undefined || isIP(before) === 0) break;
    address = before;
  }
  return address;
};

const REQUEST_TIMEOUT_MS = 30_000;
const LINGER_MS = 50;
const DRAIN_MS = 2_000;

interface ListenStudioOptions {
  /** Port. Default 8788. */
  port?: number;
  host?: string;
  log?: Log;
  /** Addresses and subnets of trusted reverse proxies, such as `127.0.0.1, 10.0.0.0/8`. Default: none. */
  trustedProxies?: string;
}

/** Serves the Studio on its own port, so that its origin differs from the API's. Stopping does not close the store. */
export const listenStudio = (
  studio: Studio,
  { port = 8788, trustedProxies, ...options }: ListenStudioOptions = {},
): Promise<ServedPort> => {
  const proxies = readTrustedProxies(trustedProxies ?? '');
  return servePort(
    (request) =>
      studio.handle({ ...request, address: clientAddress(request.address, request.header, proxies) }),
    { port, ...options, requestTimeoutMs: REQUEST_TIMEOUT_MS, lingerMs: LINGER_MS, drainMs: DRAIN_MS },
  );
};
