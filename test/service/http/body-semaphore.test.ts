import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { createBodySemaphore } from '../../../src/service/http/body.ts';
import { createService, openStore, type Service, type Store } from '../../../src/service/index.ts';
import { APP_ID, aWorkspace, CLIENT_KEY, SERVER_KEY } from '../../helpers/a-workspace.ts';

describe('slots', () => {
  test('are granted in order, up to the limit', async () => {
    const getTurn = createBodySemaphore(2);
    const order: number[] = [];
    const turns = [0, 1, 2, 3].map(() => getTurn());
    for (const [index, turn] of turns.entries()) void turn.acquire().then(() => order.push(index));
    await nextTurn();
    expect(order).toEqual([0, 1]);
    turns[1]!.release();
    await nextTurn();
    expect(order).toEqual([0, 1, 2]);
    turns[0]!.release();
    turns[2]!.release();
    await nextTurn();
    expect(order).toEqual([0, 1, 2, 3]);
  });

  test('are released only once and only by their holder', async () => {
    const getTurn = createBodySemaphore(1);
    const first = getTurn();
    await first.acquire();
    getTurn().release();
    const second = getTurn();
    let isIn = false;
    const entered = second.acquire().then(() => {
      isIn = true;
    });
    second.release();
    await nextTurn();
    expect(isIn).toBe(false);
    first.release();
    first.release();
    await entered;
    let thirdIsIn = false;
    void getTurn()
      .acquire()
      .then(() => {
        thirdIsIn = true;
      });
    await nextTurn();
    expect(thirdIsIn).toBe(false);
  });
});

describe('requests with large bodies', () => {
  const LIMIT = { requests: 1_000, window_seconds: 60 };
  let service: Service;
  let store: Store;
  /** Pending user writes, and pending lookups of a banner's user. */
  let writing: { end(): void; fail(): void }[] = [];
  let looking: { end(): void }[] = [];
  afterEach(() => service.close());

  const run = async () => {
    writing = [];
    looking = [];
    const opened = await openStore(':memory:');
    store = {
      ...opened,
      write: async (work) => {
        const held = Promise.withResolvers<void>();
        writing.push({ end: held.resolve, fail: () => held.reject(new Error('disk full')) });
        await held.promise;
        return opened.write(work);
      },
      loadTargetingData: async (...asked) => {
        const held = Promise.withResolvers<void>();
        looking.push({ end: held.resolve });
        await held.promise;
        return opened.loadTargetingData(...asked);
      },
    };
    service = createService({ workspaces: [aWorkspace({ limits: { users_track: LIMIT } })], store });
  };

  const getBody = (bytes: number) =>
    JSON.stringify({ attributes: [{ external_id: 'u-1' }], filler: 'x'.repeat(bytes) });
  const LARGE = getBody(300 * 1024);
  const post = async (
    body: string | Uint8Array,
    headers: Record<string, string> = {},
    path = '/users/track',
    key = SERVER_KEY,
  ) => {
    const answer = await service.fetch(
      new Request(`http://localhost${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: body as BodyInit,
      }),
    );
    return answer.status;
  };
  const zipped = { 'content-encoding': 'gzip' };
  /** Waits until this number of writes has started, then long enough for any others to start. */
  const begun = async (count: number, work: unknown[] = writing) => {
    while (work.length < count) await nextTurn();
    for (let turn = 0; turn < 200; turn += 1) await nextTurn();
    return work.length;
  };

  test.each([
    ['plain', LARGE, {}],
    ['zipped', gzipSync(LARGE), zipped],
    ['zipped and large as sent', gzipSync(LARGE, { level: 0 }), zipped],
  ])('are processed two at a time: %s', async (_, body, headers) => {
    await run();
    const answers = Promise.all([1, 2, 3, 4].map(() => post(body, headers)));
    expect(await begun(2)).toBe(2);
    writing[0]!.end();
    expect(await begun(3)).toBe(3);
    for (const write of writing) write.end();
    expect(await begun(4)).toBe(4);
    writing[3]!.end();
    expect(await answers).toEqual([201, 201, 201, 201]);
  });

  test('do not delay smaller requests', async () => {
    await run();
    const small = getBody(200 * 1024);
    const answers = Promise.all([
      post(LARGE),
      post(LARGE),
      post(LARGE),
      post(small),
      post(gzipSync(small), zipped),
    ]);
    expect(await begun(4)).toBe(4);
    for (const write of writing) write.end();
    await begun(5);
    writing[4]!.end();
    expect(await answers).toEqual([201, 201, 201, 201, 201]);
  });

  test('include requests of 16 KB with a client key, which do not delay server keys', async () => {
    await run();
    const sync = (bytes: number) => {
      const asked = { external_user_id: 'u-1', app_id: APP_ID, app_version: '1', placements: ['home'] };
      const body = JSON.stringify({ ...asked, filler: 'x'.repeat(bytes) });
      return post(body, {}, '/v1/device-messaging/banners/sync', CLIENT_KEY);
    };
    const syncs = Promise.all([1, 2, 3].map(() => sync(20 * 1024)));
    expect(await begun(2, looking)).toBe(2);
    const small = sync(10 * 1024);
    expect(await begun(3, looking)).toBe(3);
    const write = post(LARGE);
    await begun(1);
    writing[0]!.end();
    expect(await write).toBe(201);
    for (const look of looking) look.end();
    await begun(4, looking);
    looking[3]!.end();
    expect([...(await syncs), await small]).toEqual([200, 200, 200, 200]);
  });

  test('release their slot after any outcome', async () => {
    await run();
    const refused = [
      ...Array.from({ length: 3 }, () => post(`${LARGE}}`)),
      ...Array.from({ length: 3 }, () => post(gzipSync(LARGE, { level: 0 }).subarray(0, 300_000), zipped)),
      ...Array.from({ length: 3 }, () => post(gzipSync(getBody(5 * 1024 * 1024)), zipped)),
    ];
    expect(await Promise.all(refused)).toEqual([400, 400, 400, 400, 400, 400, 413, 413, 413]);
    const failing = [post(LARGE), post(LARGE)];
    await begun(2);
    for (const write of writing) write.fail();
    expect(await Promise.all(failing)).toEqual([500, 500]);
    const last = post(LARGE);
    await begun(3);
    writing[2]!.end();
    expect(await last).toBe(201);
  });
});
