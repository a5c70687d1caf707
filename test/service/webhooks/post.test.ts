import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { isPublicAddress, type Resolve } from '../../../src/service/webhooks/address.ts';
import { createPost, parseRetryAfter } from '../../../src/service/webhooks/post.ts';
import { type Handler, serveHandler } from '../../helpers/http-server.ts';

const { signal } = new AbortController();

const receiver = async (handler: Handler) => {
  const received: Request[] = [];
  const server = await serveHandler(async (request) => {
    received.push(request);
    return handler(request);
  });
  onTestFinished(server.close);
  return { port: new URL(server.origin).port, received };
};

const aPost = (options: Partial<Parameters<typeof createPost>[0]> = {}) => {
  const { post, close } = createPost({ privateHosts: new Set(), ...options });
  onTestFinished(close);
  return (url: string) => post({ url: new URL(url), headers: {}, body: '{}', signal });
};

const resolveTo =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

describe('isPublicAddress', () => {
  test.each(['1.1.1.1', '8.8.8.8', '172.32.0.1', '2606:4700::1111', '2a00:1450::1'])(
    'accepts %s',
    (address) => expect(isPublicAddress(address)).toBe(true),
  );
  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '192.168.1.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:10.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::a00:1',
    'fe80::1',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    '2002:7f00:1::',
    '2001:db8::1',
  ])('rejects %s', (address) => expect(isPublicAddress(address)).toBe(false));
});

describe('post', () => {
  test.each([
    'https://127.0.0.1:9/',
    'https://[::1]:9/',
    'https://[::ffff:127.0.0.1]:9/',
    'https://localhost:9/',
  ])('rejects %s', async (url) => {
    await expect(aPost()(url)).rejects.toThrow('does not lead to a public address');
  });

  test('rejects a host name if one of its addresses is private', async () => {
    const post = aPost({ resolve: resolveTo('1.1.1.1', '10.0.0.1') });
    await expect(post('https://hooks.example/')).rejects.toThrow(
      'hooks.example does not lead to a public address',
    );
  });

  test('connects to the validated address, even if the host name resolves differently later', async () => {
    const { port, received } = await receiver(async () => new Response(null, { status: 204 }));
    const resolve = vi.fn(resolveTo('127.0.0.1'));
    const post = aPost({ resolve, privateHosts: new Set(['hooks.example']) });
    expect(await post(`http://hooks.example:${port}/in`)).toEqual({ status: 204, retryAfterMs: null });
    expect(resolve).toHaveBeenCalledTimes(1);
    expect(received[0]!.headers.get('host')).toBe(`hooks.example:${port}`);
  });

  test('sends over HTTP only to allowed hosts', async () => {
    await expect(aPost({ resolve: resolveTo('1.1.1.1') })('http://hooks.example/')).rejects.toThrow(
      'expected https:',
    );
  });

  test('does not follow redirects', async () => {
    const { port, received } = await receiver(
      async () => new Response(null, { status: 302, headers: { Location: 'http://127.0.0.1/elsewhere' } }),
    );
    const post = aPost({ privateHosts: new Set(['127.0.0.1']) });
    expect(await post(`http://127.0.0.1:${port}/in`)).toMatchObject({ status: 302 });
    expect(received).toHaveLength(1);
  });

  test('times out if a receiver does not respond', async () => {
    const { port } = await receiver(() => new Promise(() => undefined));
    const post = aPost({ privateHosts: new Set(['127.0.0.1']), timeoutMs: 50 });
    await expect(post(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      cause: { name: 'TimeoutError' },
    });
  });
});

test('parseRetryAfter reads seconds and dates', () => {
  const now = Date.parse('2026-03-01T09:00:00Z');
  expect(parseRetryAfter('120', now)).toBe(120_000);
  expect(parseRetryAfter('Sun, 01 Mar 2026 09:01:00 GMT', now)).toBe(60_000);
  expect(parseRetryAfter('Sun, 01 Mar 2026 08:00:00 GMT', now)).toBe(0);
  expect(parseRetryAfter('soon', now)).toBeNull();
  expect(parseRetryAfter(undefined, now)).toBeNull();
});
