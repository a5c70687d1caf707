import { BlockList, isIP } from 'node:net';

/** What a proxy in front of the Studio says of where a request came from. */
const FORWARDED = 'x-forwarded-for';

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/**
 * The proxies whose `X-Forwarded-For` is believed: addresses and subnets, separated by commas, such as
 * `127.0.0.1, 10.0.0.0/8`; an empty text is none. Throws where one of them is neither.
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
    if (isSubnet) proxies.addSubnet(address, Number(bits), familyOf(address));
    else proxies.addAddress(address, familyOf(address));
  }
  return proxies;
};

/**
 * The address that a request came from: of the connection, or the last in `X-Forwarded-For` that no trusted proxy has.
 * What is left of it in the header was written by the client, who may write anything.
 */
export const clientAddress = (
  connection: string,
  header: (name: string) => string | undefined,
  proxies: BlockList,
): string => {
  const forwarded = header(FORWARDED)?.split(',') ?? [];
  let address = connection;
  while (isIP(address) !== 0 && proxies.check(address, familyOf(address))) {
    const before = forwarded.pop()?.trim();
    if (before === undefined || isIP(before) === 0) break;
    address = before;
  }
  return address;
};
