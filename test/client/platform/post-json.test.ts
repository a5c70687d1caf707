import { describe, expect, test } from 'vitest';
import { createPostJson, parseJson, toJson } from '../../../src/client/platform/http.ts';

const post = (fetch: typeof globalThis.fetch) => {
  let timeOut: () => void = () => undefined;
  const after = (_: number, callback: () => void) => {
    timeOut = callback;
    return () => undefined;
  };
  const request = { body: '{}', key: 'client-key', keepalive: true, timeoutMs: 5 };
  const answer = createPostJson('http://127.0.0.1:1', after, fetch)('/path', request);
  return { answer, timeOut: () => timeOut() };
};

/** As in Firefox for a keepalive request whose page went into the bfcache. */
const never = () => new Promise<never>(() => undefined);

describe('a request that the browser never settles', () => {
  test('is aborted after its timeout', async () => {
    const { answer, timeOut } = post(never);
    timeOut();
    await expect(answer).rejects.toThrow('No response from http://127.0.0.1:1/path: timed out after 5 ms');
  });

  test('is aborted while its response is read', async () => {
    const reading = Promise.withResolvers<void>();
    const body = new ReadableStream({
      pull: () => {
        reading.resolve();
        return never();
      },
    });
    const { answer, timeOut } = post(async () => new Response(body, { status: 202 }));
    await reading.promise;
    timeOut();
    await expect(answer).rejects.toThrow('timed out after 5 ms');
  });
});

test('reads a response to its end', async () => {
  const { answer } = post(async () => new Response('{"message":"success"}', { status: 202 }));
  expect(await answer).toMatchObject({ status: 202, text: '{"message":"success"}' });
});

test('returns `undefined` for invalid JSON', () => {
  expect(parseJson('<html>')).toBeUndefined();
  expect(parseJson('{"a":1}')).toEqual({ a: 1 });
});

test('reports the URL of a request that got no response', async () => {
  const { answer } = post(() => Promise.reject(new TypeError('Failed to fetch')));
  await expect(answer).rejects.toThrow('No response from http://127.0.0.1:1/path: Failed to fetch');
});

test('reads a response without headers from a wrapped fetch', async () => {
  const wrapped = { status: 202, text: async () => '{}' } as Response;
  const { headers, ...read } = await post(async () => wrapped).answer;
  expect(read).toEqual({ url: 'http://127.0.0.1:1/path', status: 202, text: '{}' });
  expect([...headers]).toEqual([]);
});

test.each([Array.prototype, Object.prototype])('ignores a toJSON of %o during serialization', (prototype) => {
  Object.defineProperty(prototype, 'toJSON', { value: () => 'wrong', configurable: true });
  try {
    expect(toJson({ placements: ['home'], nested: { at: [1, null] } })).toBe(
      '{"placements":["home"],"nested":{"at":[1,null]}}',
    );
  } finally {
    Reflect.deleteProperty(prototype, 'toJSON');
  }
});
