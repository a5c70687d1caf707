import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { createBodyMemoryBudget, MAX_BYTES } from '../../../src/service/http/body.ts';
import type { HttpRequest, HttpResponse } from '../../../src/service/http/http-request.ts';
import { HttpError } from '../../../src/service/http/http-request.ts';
import { createService, openStore } from '../../../src/service/index.ts';
import { aWorkspace, SERVER_KEY } from '../../helpers/a-workspace.ts';

const LEAST = 4 * 1024;

const refusal = (work: () => void): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
};

test('accepts one request above the shared limit, and rejects the next one until it ends', () => {
  const heldBy = createBodyMemoryBudget(10_000);
  const one = heldBy();
  one.reserve(20_000);
  const error = refusal(() => heldBy().reserve(1));
  expect(error).toBeInstanceOf(HttpError);
  expect(error).toMatchObject({ status: 503, headers: { 'Retry-After': '1' } });
  one.release();
  one.release();
  heldBy().reserve(1);
});

test('does not reject a request in progress for the size of its body', () => {
  const heldBy = createBodyMemoryBudget(10_000);
  const zipped = heldBy();
  zipped.reserve(5_000);
  zipped.reserve(50_000);
  zipped.reserve(50_000);
  expect(refusal(() => heldBy().reserve(0))).toBeInstanceOf(HttpError);
});

test('counts a request without a body', () => {
  const heldBy = createBodyMemoryBudget(10 * LEAST - 1);
  const all = Array.from({ length: 10 }, heldBy);
  for (const each of all) each.reserve(0);
  expect(refusal(() => heldBy().reserve(0))).toBeInstanceOf(HttpError);
  all[3]!.release();
  heldBy().reserve(0);
});

const BODY_BYTES = 250_000;

const text = JSON.stringify({ attributes: [{ external_id: 'u-1' }], filler: 'x'.repeat(BODY_BYTES) });
const zipped = gzipSync(text, { level: 0 });

test.each<[string, Uint8Array, Record<string, string>, number]>([
  ['plain', Buffer.from(text), {}, text.length],
  // Counts an eighth of its wire size.
  ['zipped', zipped, { 'content-encoding': 'gzip' }, zipped.byteLength / 8 + text.length],
])(
  'stays within the limit and serves other endpoints if the store stalls: %s',
  async (_, sent, headers, bytes) => {
    const store = await openStore(':memory:');
    const released = Promise.withResolvers<void>();
    let begun = 0;
    const held = {
      ...store,
      write: async (...args: Parameters<typeof store.write>) => {
        begun += 1;
        await released.promise;
        return store.write(...args);
      },
    } as typeof store;
    const workspace = aWorkspace({ limits: { users_track: { requests: 10_000, window_seconds: 60 } } });
    const service = createService({ workspaces: [workspace], store: held });
    const post = (path: string, body: Uint8Array, more: Record<string, string> = {}): Promise<HttpResponse> =>
      service.handle({
        method: 'POST',
        path,
        search: '',
        address: '',
        requestId: 'r-1',
        header: (name) =>
          ({ authorization: `Bearer ${SERVER_KEY}`, 'content-type': 'application/json', ...more })[name],
        body: async () => body,
      } satisfies HttpRequest);

    const answers: Promise<HttpResponse>[] = [];
    let refused: HttpResponse | undefined;
    while (!refused) {
      const answer = post('/users/track', sent, headers);
      answers.push(answer);
      void answer.then((reply) => {
        refused ??= reply;
      });
      while (begun < answers.length && !refused) await nextTurn();
    }
    expect(answers).toHaveLength(Math.floor(MAX_BYTES / (bytes + LEAST)) + 2);
    expect(refused).toMatchObject({ status: 503, headers: { 'Retry-After': '1' } });
    expect(JSON.parse(String(refused.body))).toMatchObject({ message: 'Too many requests are waiting' });
    const asked = Buffer.from(JSON.stringify({ external_ids: ['u-1'] }));
    expect((await post('/users/export/ids', asked)).status).toBe(201);

    released.resolve();
    for (const answer of answers.slice(0, -1)) expect((await answer).status).toBe(201);
    expect((await post('/users/track', sent, headers)).status).toBe(201);
    await service.close();
  },
);
