import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

/** Non-public networks of the IANA special-purpose registries. */
const SPECIAL: readonly (readonly [network: string, prefix: number, family: 'ipv4' | 'ipv6'])[] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.0.2.0', 24, 'ipv4'],
  ['192.88.99.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['198.51.100.0', 24, 'ipv4'],
  ['203.0.113.0', 24, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  // Networks outside 2000::/3, including mapped IPv4 addresses and NAT64.
  ['::', 3, 'ipv6'],
  ['4000::', 2, 'ipv6'],
  ['8000::', 1, 'ipv6'],
  // Teredo, benchmarking, documentation, 6to4.
  ['2001::', 23, 'ipv6'],
  ['2001:db8::', 32, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['3fff::', 20, 'ipv6'],
];

// Uses separate lists, because a block list also compares IPv4 addresses with IPv6 networks.
const special = { ipv4: new BlockList(), ipv6: new BlockList() };
for (const [network, prefix, family] of SPECIAL) special[family].addSubnet(network, prefix, family);

export const isPublicAddress = (address: string): boolean => {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  return !special[family].check(address, family);
};

export interface ResolvedAddress {
  address: string;
  family: number;
}

/** Thrown if a message cannot be sent with the configuration, such as a missing secret. */
export class WebhookConfigurationError extends Error {
  override readonly name: string = 'WebhookConfigurationError';
}

/** Thrown if a host resolves to an address that webhooks must not reach. */
export class PrivateAddressError extends WebhookConfigurationError {
  override readonly name = 'PrivateAddressError';
}

export type Resolve = (host: string) => Promise<ResolvedAddress[]>;

const resolveByDns: Resolve = (host) => lookup(host, { all: true });

/**
 * Resolves the host of a webhook. Connect to the returned address, because a second lookup may return another address. Throws
 * `PrivateAddressError` if any address is not public, unless the host is in `privateHosts`.
 */
export const resolvePublic = async (
  hostname: string,
  privateHosts: ReadonlySet<string>,
  resolve: Resolve = resolveByDns,
): Promise<ResolvedAddress[]> => {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(host);
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }];
  const isAllowed = privateHosts.has(host) || addresses.every(({ address }) => isPublicAddress(address));
  if (isAllowed && addresses.length > 0) return addresses;
  throw new PrivateAddressError(`${host} does not lead to a public address`);
};
