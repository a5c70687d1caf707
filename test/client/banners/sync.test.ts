import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { invalidProperties } from '../../../src/client/banners/sync-response.ts';
import type { Banner } from '../../../src/client/index.ts';
import { aWireBanner, buildBanner } from '../../helpers/a-banner.ts';
import { all, json, refuse, settle, setUp } from './arrange-sync.ts';

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 2, 1) }));
afterEach(() => void vi.useRealTimers());

test('contract 2.5: sends user, app, version and placements in one request, with the key as bearer token', async () => {
  const { sync, sent } = setUp([all], { deviceId: 'd-1' });
  await sync.now(['home_hero']);
  const { request, body } = sent[0]!;
  expect(request.url).toBe('https://api.example/base/v1/device-messaging/banners/sync');
  expect(request.method).toBe('POST');
  expect(request.headers.get('authorization')).toBe('Bearer key-1');
  expect(request.headers.get('content-type')).toMatch(/^application\/json/);
  expect(body).toEqual({
    external_user_id: 'u-1',
    app_id: 'app',
    app_version: '1.2',
    device_id: 'd-1',
    placements: ['home_hero'],
  });
});

test('calls the host’s fetch without a receiver, because the browser’s fetch requires it', async () => {
  const { sync, callers } = setUp();
  await sync.now(['home_hero']);
  expect(callers).toEqual([undefined]);
});

test.each([[''], [undefined], [5]])(
  'reports an invalid placement ID (%j) without affecting other placements',
  async (wrong) => {
    const { sync, sent, results, kinds } = setUp();
    sync.queue(['home_hero', wrong as string]);
    await settle();
    await sync.now([wrong as string]);
    expect(sent.map(({ body }) => body.placements)).toEqual([['home_hero']]);
    expect(results.map(({ banners }) => [...banners.keys()])).toEqual([['home_hero']]);
    expect(kinds()).toEqual(['config', 'config']);
  },
);

test('batches the placements of one task into one request without duplicates', async () => {
  const { sync, sent } = setUp();
  sync.queue(['home_hero']);
  sync.queue(['sidebar']);
  await Promise.resolve();
  sync.queue(['home_hero', 'strip']);
  await settle();
  expect(sent.map(({ body }) => body.placements)).toEqual([['home_hero', 'sidebar', 'strip']]);
});

test('case 58: splits more than ten placements into several requests without losses', async () => {
  const { sync, sent, results } = setUp();
  const ids = Array.from({ length: 23 }, (_, i) => `p-${i}`);
  await sync.now(ids);
  expect(sent.map(({ body }) => body.placements.length)).toEqual([10, 10, 3]);
  expect(results.flatMap(({ banners }) => [...banners.keys()]).sort()).toEqual([...ids].sort());
});

test('parses banners: seconds to milliseconds, -1 to `null`, and missing properties to an empty object', async () => {
  const { sync, results } = setUp([
    () =>
      json({
        banners: {
          a: aWireBanner({ placement_id: 'a', expires_at: 1_790_812_800 }),
          b: { id: 'bnr-2', placement_id: 'b', is_control: true, expires_at: -1, properties: null },
          c: null,
        },
      }),
  ]);
  await sync.now(['a', 'b', 'c', 'd']);
  expect(Object.fromEntries(results[0]!.banners)).toEqual({
    a: buildBanner({ placementId: 'a', expiresAt: 1_790_812_800_000 }),
    b: buildBanner({ id: 'bnr-2', placementId: 'b', isControl: true, properties: {} }),
    c: null,
  });
});

test('case 53: ignores placements that are missing from the response or were not requested', async () => {
  const { sync, results } = setUp([() => json({ banners: { stranger: aWireBanner() } })]);
  await sync.now(['home_hero']);
  expect(results[0]?.banners).toEqual(new Map());
});

test('emits one notice for a placement that the service omits from its responses', async () => {
  const { sync, notices } = setUp([() => json({ banners: { home_hero: null } })]);
  for (let times = 0; times < 3; times += 1) await sync.now(['home_hero', 'hoem_hero']);
  expect(notices).toEqual([
    { type: 'failed', kind: 'config', message: expect.stringContaining('no placement "hoem_hero"') },
  ]);
});

test('requests a placement with the name of an Object.prototype member like any other', async () => {
  const { sync, results } = setUp([() => json({ banners: {} }), all]);
  await sync.now(['constructor', 'toString']);
  expect(results[0]?.banners).toEqual(new Map());
  await sync.now(['constructor']);
  expect([...results[1]!.banners.keys()]).toEqual(['constructor']);
});

test('case 50: orders each request after the previous one, even if the clock is set back', async () => {
  const { sync, results } = setUp();
  await sync.now(['a']);
  vi.setSystemTime(0);
  await sync.now(['a']);
  expect(results[1]!.fetchedAtMs).toBeGreaterThan(results[0]!.fetchedAtMs);
});

test('case 51: discards a response for the previous user', async () => {
  const gate = Promise.withResolvers<Response>();
  const { sync, results, notices, state } = setUp([() => gate.promise]);
  const done = sync.now(['home_hero']);
  await settle();
  state.userId = 'u-2';
  sync.reset();
  gate.resolve(json({ banners: { home_hero: aWireBanner() } }));
  await done;
  expect(results).toEqual([]);
  expect(notices).toEqual([]);
});

describe('requests after the user has changed', () => {
  test('are not sent if the key function is still pending', async () => {
    const { promise: key, resolve: give } = Promise.withResolvers<string>();
    const { sync, sent, notices } = setUp([all], { apiKey: () => key });
    const done = sync.now(['home_hero']);
    await settle();
    sync.reset();
    give('key-1');
    await done;
    expect([sent, notices]).toEqual([[], []]);
  });

  test('are not sent if the key was rejected and is requested again', async () => {
    const { promise: better, resolve: give } = Promise.withResolvers<string>();
    const keys = ['old', better];
    const { sync, sent, notices } = setUp([refuse(401), all], { apiKey: () => keys.shift()! });
    const done = sync.now(['home_hero']);
    await settle();
    sync.reset();
    give('new');
    await done;
    expect(sent).toHaveLength(1);
    expect(notices).toEqual([]);
  });

  test('are not sent as retries of a server error', async () => {
    const { sync, sent, notices } = setUp([refuse(503)]);
    await sync.now(['home_hero']);
    sync.reset();
    const before = notices.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect([sent.length, notices.length]).toEqual([1, before]);
  });
});

test('requests the next user’s banners after it aborted the previous user’s requests', async () => {
  const { promise: late, resolve: answer } = Promise.withResolvers<Response>();
  const { sync, sent, results, state } = setUp([() => late, all]);
  const done = sync.now(['home_hero']);
  await settle();
  state.userId = 'u-2';
  sync.reset();
  answer(Response.json({ error: 'no' }, { status: 503 }));
  await done;
  await sync.now(['home_hero']);
  expect(sent.map(({ body }) => body.external_user_id)).toEqual(['u-1', 'u-2']);
  expect(results.map(({ userId }) => userId)).toEqual(['u-2']);
});

test('does not send a request without a user or while requests are not allowed', async () => {
  const { sync, sent, state } = setUp();
  state.userId = null;
  await sync.now(['home_hero']);
  state.userId = 'u-1';
  state.canSync = false;
  await sync.now(['home_hero']);
  expect(sent).toEqual([]);
});

test('retries a transient server error after a short delay', async () => {
  const { sync, sent, results, kinds } = setUp([refuse(503), refuse(500), all]);
  sync.queue(['home_hero']);
  await vi.advanceTimersByTimeAsync(2_000 + 4_000);
  expect(sent).toHaveLength(3);
  expect(results).toHaveLength(1);
  expect(kinds()).toEqual(['sync', 'sync']);
});

test('retries with a growing backoff while the server is down', async () => {
  const { sync, sent, kinds, waiting } = setUp([refuse(500)]);
  sync.queue(['home_hero']);
  await vi.advanceTimersByTimeAsync(6 * 3_600_000);
  expect(kinds()[0]).toBe('sync');
  expect(waiting()[0]).toBe('backoff');
  // The delays double from 2 seconds up to 5 minutes.
  expect(sent.length).toBeGreaterThan(70);
  expect(sent.length).toBeLessThan(90);
});

test('keeps placements pending after a failure and requests them once the server recovers', async () => {
  const { sync, results } = setUp([refuse(500), refuse(500), refuse(500), all]);
  sync.queue(['home_hero']);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(results.map(({ banners }) => [...banners.keys()])).toEqual([['home_hero']]);
});

test('sends one request as soon as the browser is online again', async () => {
  const { sync, sent } = setUp([() => Promise.reject(new TypeError('Failed to fetch'))]);
  sync.queue(['home_hero']);
  await vi.advanceTimersByTimeAsync(15_000);
  const before = sent.length;
  sync.retry();
  await vi.advanceTimersByTimeAsync(0);
  expect(sent.length).toBe(before + 1);
});

test('case 21: treats the page of a captive portal as a failed response and keeps the cache', async () => {
  const portal = () => new Response('<html>Sign in</html>', { headers: { 'content-type': 'text/html' } });
  const { sync, results, kinds } = setUp([portal]);
  await sync.now(['home_hero']);
  expect(results).toEqual([]);
  expect(kinds()).toEqual(['sync']);
});

test.each([[{}], [{ banners: [] }], [null], [[]]])(
  'treats a response of another shape (%j) as a failed sync',
  async (body) => {
    const { sync, results, kinds } = setUp([() => json(body)]);
    await sync.now(['home_hero']);
    expect(results).toEqual([]);
    expect(kinds()).toEqual(['sync']);
  },
);

test.each([
  ['text', 'side'],
  ['a non-string id', { ...aWireBanner(), placement_id: 'side', id: 5 }],
  ['an empty id', { ...aWireBanner(), placement_id: 'side', id: '' }],
  ['the banner of another placement', aWireBanner({ placement_id: 'home_hero' })],
  ['a non-numeric expiry', { ...aWireBanner(), placement_id: 'side', expires_at: null }],
  ['properties in an array', { ...aWireBanner(), placement_id: 'side', properties: [] }],
])('case 59: an invalid banner (%s) does not affect other placements', async (_, side) => {
  const { sync, sent, results, kinds } = setUp([
    () => json({ banners: { home_hero: aWireBanner({ placement_id: 'home_hero' }), side } }),
  ]);
  await sync.now(['home_hero', 'side']);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(results.map(({ banners }) => [...banners.keys()])).toEqual([['home_hero']]);
  expect(kinds()).toEqual(['invalid-banner']);
  expect(sent).toHaveLength(1);
});

test.each([[{ type: 'string' }], [{ type: 5, value: 'x' }], [null], [5]])(
  'case 59: an invalid property (%j) does not affect others, and every getter returns null for it',
  async (wrong) => {
    const right = { type: 'string', value: 'Sale' };
    const { sync, results } = setUp([
      () =>
        json({
          banners: {
            home_hero: aWireBanner({ placement_id: 'home_hero', properties: { wrong, right } as never }),
          },
        }),
    ]);
    await sync.now(['home_hero']);
    const banner = results[0]!.banners.get('home_hero') as Banner;
    expect(banner.properties.right).toEqual(right);
    expect(invalidProperties(banner)).toEqual(['wrong']);
  },
);

test('case 55: measures the clock skew from the date of the response', async () => {
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  const { sync, results } = setUp([
    (sent) => {
      const answer = all(sent) as Response;
      answer.headers.set('date', date);
      return answer;
    },
  ]);
  await sync.now(['home_hero']);
  expect(results[0]?.clockSkewMs).toBe(3_600_000);
});

test('treats an exception of the key function as a failed sync', async () => {
  const { sync, kinds } = setUp([all], {
    apiKey: () => {
      throw new Error('no key');
    },
  });
  await sync.now(['home_hero']);
  expect(kinds()).toEqual(['sync']);
});

test('treats a key function that never settles as a failed sync after its timeout', async () => {
  const { sync, sent, kinds } = setUp([all], { apiKey: () => new Promise<string>(() => undefined) });
  const done = sync.now(['home_hero']);
  await vi.advanceTimersByTimeAsync(10_000);
  await done;
  expect(sent).toEqual([]);
  expect(kinds()).toEqual(['sync']);
});

test('does not send requests, emit notices or start timers after stop', async () => {
  const gate = Promise.withResolvers<Response>();
  const { sync, sent, results, notices, state } = setUp([() => gate.promise]);
  const done = sync.now(['home_hero']);
  await settle();
  state.canSync = false;
  sync.reset();
  gate.resolve(json({ banners: { home_hero: aWireBanner() } }));
  await done;
  sync.queue(['sidebar']);
  await sync.now(['sidebar']);
  expect([sent.length, results, notices]).toEqual([1, [], []]);
  expect(vi.getTimerCount()).toBe(0);
});
