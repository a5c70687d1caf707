import { describe, expect, test } from 'vitest';
import { createPostJson, parseJson } from '../../../src/client/platform/http.ts';

const post = (fetch: typeof globalThis.fetch) => {
  const controller = new AbortController();
  const answer = createPostJson('http://127.0.0.1:1', fetch)('/path', {
    body: '{}',
    key: 'client-key',
    keepalive: true,
    signal: controller.signal,
  });
  return { answer, abort: () => controller.abort(new Error('no answer within 5 ms')) };
};

/** As Firefox leaves a keepalive request whose page went into the bfcache. */
const never = () => new Promise<never>(() => undefined);

describe('a request that its browser never settles', () => {
  test('is given up when its time is over', async () => {
    const { answer, abort } = post(never);
    abort();
    await expect(answer).rejects.toThrow('no answer within 5 ms');
  });

  test('is given up while its answer is read', async () => {
    const reading = Promise.withResolvers<void>();
    const body = new ReadableStream({
      pull: () => {
        reading.resolve();
        return never();
      },
    });
    const { answer, abort } = post(async () => new Response(body, { status: 202 }));
    await reading.promise;
    abort();
    await expect(answer).rejects.toThrow('no answer within 5 ms');
  });
});

test('an answer is read to its end', async () => {
  const { answer } = post(async () => new Response('{"message":"success"}', { status: 202 }));
  expect(await answer).toMatchObject({ status: 202, text: '{"message":"success"}' });
});

test('a text that is no JSON reads as nothing', () => {
  expect(parseJson('<html>')).toBeUndefined();
  expect(parseJson('{"a":1}')).toEqual({ a: 1 });
});
