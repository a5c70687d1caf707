import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listenStudio } from '../../../src/studio/index.ts';
import { clientAddress, readTrustedProxies } from '../../../src/studio/server/listen-studio.ts';
import { type RunningStudio, runStudio } from '../../helpers/running-studio.ts';

const PROXIES = readTrustedProxies('127.0.0.1, 10.0.0.0/8,2001:db8::/32');

describe('clientAddress', () => {
  test.each([
    ['returns the address of the peer if nothing was forwarded', '192.0.2.7', undefined, '192.0.2.7'],
    ['returns the address of a peer that is not a trusted proxy', '192.0.2.7', '198.51.100.1', '192.0.2.7'],
    ['returns the address that a trusted proxy forwarded', '127.0.0.1', '198.51.100.1', '198.51.100.1'],
    [
      'returns the address that the first of two trusted proxies forwarded',
      '127.0.0.1',
      '198.51.100.1, 10.1.2.3',
      '198.51.100.1',
    ],
    ['ignores addresses that the client forged', '127.0.0.1', '203.0.113.9, 198.51.100.1', '198.51.100.1'],
    ['accepts IPv6', '2001:db8::1', '2001:4860::8', '2001:4860::8'],
    ['trusts an IPv4-mapped proxy on a dual-stack socket', '::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['returns the address of a proxy that forwards none', '127.0.0.1', 'unknown', '127.0.0.1'],
    ['returns an empty string if the connection is closed', '', '198.51.100.1', ''],
  ])('%s', (_, connection, forwarded, address) => {
    expect(clientAddress(connection, () => forwarded, PROXIES)).toBe(address);
  });

  test.each(['localhost', '10.0.0.0/33', '10.0.0.0/', '2001:db8::/129', '10.0.0.0/8/8', '10.0.0/8'])(
    'rejects the proxy %j with an error that includes it',
    (text) => expect(() => readTrustedProxies(`127.0.0.1,${text}`)).toThrow(`got "${text}"`),
  );

  test('returns the address of the peer for all clients if no proxy is configured', () => {
    expect(clientAddress('127.0.0.1', () => '198.51.100.1', readTrustedProxies(''))).toBe('127.0.0.1');
  });
});

describe('sign-in limit behind a proxy', () => {
  let studio: RunningStudio;
  beforeEach(async () => {
    studio = await runStudio();
  });
  afterEach(() => studio.stop());

  const behindProxy = async (trustedProxies: string) => {
    const { url, stop } = await listenStudio(studio.studio, { port: 0, trustedProxies });
    const signIn = async (key: string, client: string) => {
      const response = await fetch(`${url}/api/session`, {
        method: 'POST',
        headers: { origin: url, 'content-type': 'application/json', 'x-forwarded-for': client },
        body: JSON.stringify({ key }),
      });
      await response.text();
      return response.status;
    };
    return { signIn, stop };
  };
  const guess = (index: number) => `op_${String(index).padStart(8, '0')}`;

  test('blocks no other client after ten attempts with one wrong key', async () => {
    const { signIn, stop } = await behindProxy('');
    for (let tries = 0; tries < 10; tries += 1) expect(await signIn('op_guess', '192.0.2.1')).toBe(401);
    expect(await signIn('op_guess', '192.0.2.1')).toBe(429);
    expect(await signIn('Ed-key', '198.51.100.1')).toBe(204);
    await stop();
  });

  test('blocks only the IP address of a hundred wrong keys if the proxy is trusted', async () => {
    const { signIn, stop } = await behindProxy('127.0.0.1');
    for (let tries = 0; tries < 100; tries += 1) expect(await signIn(guess(tries), '192.0.2.1')).toBe(401);
    expect(await signIn(guess(100), '192.0.2.1')).toBe(429);
    expect(await signIn('Ed-key', '198.51.100.1')).toBe(204);
    await stop();
  });

  test('counts the attempts with one key from many IP addresses', async () => {
    const { signIn, stop } = await behindProxy('127.0.0.1');
    for (let tries = 0; tries < 10; tries += 1)
      expect(await signIn('op_guess', `192.0.2.${tries}`)).toBe(401);
    expect(await signIn('op_guess', '192.0.2.77')).toBe(429);
    await stop();
  });
});
