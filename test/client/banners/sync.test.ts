import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { misfits } from '../../../src/client/banners/properties.ts';
import { createSync, type SyncResult } from '../../../src/client/banners/sync.ts';
import type { Banner, Notice, PlacardOptions } from '../../../src/client/index.ts';
import { readOptions } from '../../../src/client/read-options.ts';
import type { SyncRequest } from '../../../src/protocol/index.ts';
import { aBanner, aWireBanner } from '../../helpers/a-banner.ts';

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 2, 1) }));
afterEach(() => void vi.useRealTimers());

interface Asked {
  body: SyncRequest;
  request: Request;
}
type Answer = (asked: Asked) => Response | Promise<Response>;

const json = (body: unknown, init?: ResponseInit) => Response.json(body, init);
const all: Answer = ({ body }) =>
  json({ banners: Object.fromEntries(body.placements.map((id) => [id, aWireBanner({ placement_id: id })])) });
const refuse = (status: number, headers: HeadersInit = {}): Answer => {
  return () => json({ error: 'no' }, { status, headers });
};

/** A sync whose service answers with the given answers in turn, the last of them for ever. */
const setUp = (answers: Answer[] = [all], options: Partial<PlacardOptions> = {}) => {
  const asked: Asked[] = [];
  const callers: unknown[] = [];
  const results: SyncResult[] = [];
  const notices: Notice[] = [];
  const state = { userId: 'u-1' as string | null, maySync: true };
  const onRateLimit = vi.fn();
  const sync = createSync({
    settings: readOptions({
      endpoint: 'https://api.example/base',
      apiKey: 'key-1',
      appId: 'app',
      appVersion: '1.2',
      userId: 'u-1',
      ...options,
      platform: {
        random: () => 1,
        async fetch(this: unknown, input, init) {
          callers.push(this);
          const request = new Request(input, init);
          const entry = { request, body: (await request.clone().json()) as SyncRequest };
          asked.push(entry);
          return (answers.length > 1 ? answers.shift() : answers[0])!(entry);
        },
      },
    } as PlacardOptions),
    userId: () => state.userId,
    maySync: () => state.maySync,
    onAnswer: (result) => results.push(result),
    onRateLimit,
    notify: (notice) => notices.push(notice),
  });
  const kinds = () => notices.flatMap((notice) => (notice.type === 'failed' ? [notice.kind] : []));
  const waiting = () => notices.flatMap((notice) => (notice.type === 'waiting' ? [notice.reason] : []));
  return { sync, asked, callers, results, notices, kinds, waiting, state, onRateLimit };
};

const settle = () => vi.advanceTimersByTimeAsync(0);

test('contract 2.5: one request names user, app, version and placements, with the key as bearer', async () => {
  const { sync, asked } = setUp([all], { deviceId: 'd-1' });
  await sync.now(['home_hero']);
  const { request, body } = asked[0]!;
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

test('a fetch of the host is called on nothing, as the browser’s own must be', async () => {
  const { sync, callers } = setUp();
  await sync.now(['home_hero']);
  expect(callers).toEqual([undefined]);
});

test.each([[''], [undefined], [5]])(
  'a placement ID that is none (%j) is told, and costs no other placement its answer',
  async (wrong) => {
    const { sync, asked, results, kinds } = setUp();
    sync.want(['home_hero', wrong as string]);
    await settle();
    await sync.now([wrong as string]);
    expect(asked.map(({ body }) => body.placements)).toEqual([['home_hero']]);
    expect(results.map(({ banners }) => [...banners.keys()])).toEqual([['home_hero']]);
    expect(kinds()).toEqual(['config', 'config']);
  },
);

test('what is wanted in one task goes out in one request, each placement once', async () => {
  const { sync, asked } = setUp();
  sync.want(['home_hero']);
  sync.want(['sidebar']);
  await Promise.resolve();
  sync.want(['home_hero', 'strip']);
  await settle();
  expect(asked.map(({ body }) => body.placements)).toEqual([['home_hero', 'sidebar', 'strip']]);
});

test('case 58: more than ten placements are split into several requests and none is dropped', async () => {
  const { sync, asked, results } = setUp();
  const ids = Array.from({ length: 23 }, (_, i) => `p-${i}`);
  await sync.now(ids);
  expect(asked.map(({ body }) => body.placements.length)).toEqual([10, 10, 3]);
  expect(results.flatMap(({ banners }) => [...banners.keys()]).sort()).toEqual([...ids].sort());
});

test('an answer becomes banners: seconds turn into milliseconds, -1 into never, no properties into none', async () => {
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
    a: aBanner({ placementId: 'a', expiresAt: 1_790_812_800_000 }),
    b: aBanner({ id: 'bnr-2', placementId: 'b', isControl: true, properties: {} }),
    c: null,
  });
});

test('case 53: a placement that the answer leaves out is not in the result, nor is one that nobody asked for', async () => {
  const { sync, results } = setUp([() => json({ banners: { stranger: aWireBanner() } })]);
  await sync.now(['home_hero']);
  expect(results[0]?.banners).toEqual(new Map());
});

test('a placement named like a member of every object is asked for and answered like any other', async () => {
  const { sync, results } = setUp([() => json({ banners: {} }), all]);
  await sync.now(['constructor', 'toString']);
  expect(results[0]?.banners).toEqual(new Map());
  await sync.now(['constructor']);
  expect([...results[1]!.banners.keys()]).toEqual(['constructor']);
});

test('case 50: each request is a later question than the one before, even when the clock goes back', async () => {
  const { sync, results } = setUp();
  await sync.now(['a']);
  vi.setSystemTime(0);
  await sync.now(['a']);
  expect(results[1]!.askedAtMs).toBeGreaterThan(results[0]!.askedAtMs);
});

test('case 51: an answer for the former user is never handed on', async () => {
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

describe.each(['reset', 'stop'] as const)(
  'once a user’s turn is over (%s), no request leaves the tab',
  (end) => {
    test('where the key function had not answered yet', async () => {
      const { promise: key, resolve: give } = Promise.withResolvers<string>();
      const { sync, asked, notices } = setUp([all], { apiKey: () => key });
      const done = sync.now(['home_hero']);
      await settle();
      sync[end]();
      give('key-1');
      await done;
      expect([asked, notices]).toEqual([[], []]);
    });

    test('where the key was refused and is asked for again', async () => {
      const { promise: better, resolve: give } = Promise.withResolvers<string>();
      const keys = ['old', better];
      const { sync, asked, notices } = setUp([refuse(401), all], { apiKey: () => keys.shift()! });
      const done = sync.now(['home_hero']);
      await settle();
      sync[end]();
      give('new');
      await done;
      expect(asked).toHaveLength(1);
      expect(notices).toEqual([]);
    });

    test('where a server that stumbles was to be asked again', async () => {
      const { sync, asked, notices } = setUp([refuse(503)]);
      const done = sync.now(['home_hero']);
      await settle();
      sync[end]();
      await done;
      await vi.advanceTimersByTimeAsync(60_000);
      expect(asked).toHaveLength(1);
      expect(notices).toEqual([]);
    });
  },
);

test('the next user is asked for although the former one’s requests were ended', async () => {
  const { sync, asked, results, state } = setUp([refuse(503), all]);
  const done = sync.now(['home_hero']);
  await settle();
  state.userId = 'u-2';
  sync.reset();
  await done;
  await sync.now(['home_hero']);
  expect(asked.map(({ body }) => body.external_user_id)).toEqual(['u-1', 'u-2']);
  expect(results.map(({ userId }) => userId)).toEqual(['u-2']);
});

test('nothing is asked without a user, or while it is not allowed', async () => {
  const { sync, asked, state } = setUp();
  state.userId = null;
  await sync.now(['home_hero']);
  state.userId = 'u-1';
  state.maySync = false;
  await sync.now(['home_hero']);
  expect(asked).toEqual([]);
});

test('a server that stumbles is asked again within the same sync', async () => {
  const { sync, asked, results, notices } = setUp([refuse(503), refuse(500), all]);
  const done = sync.now(['home_hero']);
  await vi.advanceTimersByTimeAsync(10_000);
  await done;
  expect(asked).toHaveLength(3);
  expect(results).toHaveLength(1);
  expect(notices).toEqual([]);
});

test('a server that is down is asked again later, each time later, and never for ever in vain', async () => {
  const { sync, asked, kinds, waiting } = setUp([refuse(500)]);
  sync.want(['home_hero']);
  await vi.advanceTimersByTimeAsync(6 * 3_600_000);
  expect(kinds()[0]).toBe('sync');
  expect(waiting()[0]).toBe('backoff');
  // Three tries a sync; the waits double from 30 s up to an hour.
  expect(asked.length).toBeGreaterThan(20);
  expect(asked.length).toBeLessThan(50);
});

test('after a failure the placements are still wanted, and answered when the server is back', async () => {
  const { sync, results } = setUp([refuse(500), refuse(500), refuse(500), all]);
  sync.want(['home_hero']);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(results.map(({ banners }) => [...banners.keys()])).toEqual([['home_hero']]);
});

test('a network that comes back is used at once, one time', async () => {
  const { sync, asked } = setUp([() => Promise.reject(new TypeError('Failed to fetch'))]);
  sync.want(['home_hero']);
  await vi.advanceTimersByTimeAsync(15_000);
  const before = asked.length;
  sync.hurry();
  await vi.advanceTimersByTimeAsync(0);
  expect(asked.length).toBe(before + 1);
});

test('case 21: a captive portal’s page is no answer, and the cache is not touched', async () => {
  const portal = () => new Response('<html>Sign in</html>', { headers: { 'content-type': 'text/html' } });
  const { sync, results, kinds } = setUp([portal]);
  await sync.now(['home_hero']);
  expect(results).toEqual([]);
  expect(kinds()).toEqual(['sync']);
});

test.each([[{}], [{ banners: [] }], [null], [[]]])(
  'an answer of another shape (%j) is a failed sync',
  async (body) => {
    const { sync, results, kinds } = setUp([() => json(body)]);
    await sync.now(['home_hero']);
    expect(results).toEqual([]);
    expect(kinds()).toEqual(['sync']);
  },
);

test.each([
  ['text', 'side'],
  ['an id that is no text', { ...aWireBanner(), placement_id: 'side', id: 5 }],
  ['an empty id', { ...aWireBanner(), placement_id: 'side', id: '' }],
  ['the banner of another placement', aWireBanner({ placement_id: 'home_hero' })],
  ['an end that is no number', { ...aWireBanner(), placement_id: 'side', expires_at: null }],
  ['properties in a list', { ...aWireBanner(), placement_id: 'side', properties: [] }],
])('case 59: a banner that cannot be read (%s) costs no other placement its answer', async (_, side) => {
  const { sync, asked, results, kinds } = setUp([
    () => json({ banners: { home_hero: aWireBanner({ placement_id: 'home_hero' }), side } }),
  ]);
  await sync.now(['home_hero', 'side']);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(results.map(({ banners }) => [...banners.keys()])).toEqual([['home_hero']]);
  expect(kinds()).toEqual(['property']);
  expect(asked).toHaveLength(1);
});

test.each([[{ type: 'string' }], [{ type: 5, value: 'x' }], [null], [5]])(
  'case 59: a property that cannot be read (%j) costs no other property, and fits no type',
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
    expect(misfits(banner)).toEqual(['wrong']);
  },
);

test('contract 1.5: a 429 is answered by waiting as long as the service says, and empties the budget', async () => {
  const { sync, asked, results, waiting, onRateLimit } = setUp([
    refuse(429, { 'x-ratelimit-retry-after': '120' }),
    all,
  ]);
  await sync.now(['home_hero']);
  expect(onRateLimit).toHaveBeenCalledTimes(1);
  expect(waiting()).toEqual(['rate-limit']);
  sync.hurry();
  sync.want(['sidebar']);
  await vi.advanceTimersByTimeAsync(119_999);
  expect(asked).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(asked).toHaveLength(2);
  expect(results.flatMap(({ banners }) => [...banners.keys()]).sort()).toEqual(['home_hero', 'sidebar']);
});

test.each([
  ['an answer', all],
  ['an error', refuse(500)],
  ['a lost answer', () => Promise.reject(new TypeError('Failed to fetch'))],
])('case 17: %s to another request does not shorten the wait that a 429 asked for', async (_, other) => {
  let isOver = false;
  const answer: Answer = async (request) => {
    if (isOver) return all(request);
    if (request.body.placements.includes('p-11')) return refuse(429, { 'retry-after': '600' })(request);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    return other(request);
  };
  const { sync, asked, results } = setUp([answer]);
  sync.want(Array.from({ length: 12 }, (_, i) => `p-${i}`));
  await vi.advanceTimersByTimeAsync(30_000);
  isOver = true;
  const before = asked.length;
  sync.hurry();
  await vi.advanceTimersByTimeAsync(569_999);
  expect(asked).toHaveLength(before);
  await vi.advanceTimersByTimeAsync(1);
  expect(results.flatMap(({ banners }) => [...banners.keys()])).toContain('p-11');
});

test('contract 1.5: a 503 that says for how long is left alone for so long, whatever the page does', async () => {
  const { sync, asked, results, waiting } = setUp([refuse(503, { 'retry-after': '600' }), all]);
  sync.want(['home_hero']);
  await vi.advanceTimersByTimeAsync(599_999);
  sync.hurry();
  await settle();
  expect(asked).toHaveLength(1);
  expect(waiting()).toEqual(['backoff']);
  await vi.advanceTimersByTimeAsync(1);
  expect(results).toHaveLength(1);
});

test('contract 1.5: a 503 that asks for a moment gets it within the same sync, and the backoff where it stays', async () => {
  const { sync, asked, notices } = setUp([refuse(503, { 'retry-after': '5' })]);
  sync.want(['home_hero']);
  await vi.advanceTimersByTimeAsync(9_999);
  expect([asked.length, notices]).toEqual([2, []]);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(asked).toHaveLength(3);
});

test('contract 1.5: the window in the headers of a 503 is not its wish', async () => {
  const reset = String(Date.now() / 1000 + 3_600);
  const { sync, asked } = setUp([refuse(500, { 'x-ratelimit-reset': reset })]);
  sync.want(['home_hero']);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked.length).toBeGreaterThan(3);
});

test('contract 1.5: without a retry header the reset, an epoch, says how long', async () => {
  const reset = String(Date.now() / 1000 + 90);
  const { sync, asked } = setUp([refuse(429, { 'x-ratelimit-reset': reset }), all]);
  await sync.now(['home_hero']);
  await vi.advanceTimersByTimeAsync(89_999);
  expect(asked).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(asked).toHaveLength(2);
});

test.each([
  ['a reset that has passed', { 'x-ratelimit-reset': '1' }],
  ['no time at all', { 'retry-after': '0' }],
])('a 429 with %s is not asked again at once, and again, and again', async (_, headers) => {
  const { sync, asked } = setUp(Array.from({ length: 50 }, () => refuse(429, headers)));
  await sync.now(['home_hero']);
  await vi.advanceTimersByTimeAsync(14_999);
  expect(asked).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  expect(asked.length).toBeLessThan(12);
});

test('no service may silence the client for longer than an hour', async () => {
  const { sync, asked } = setUp([refuse(429, { 'retry-after': '999999' }), all]);
  await sync.now(['home_hero']);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(asked).toHaveLength(2);
});

test('a clock that is set back in a wait does not make it days, nor the next one none', async () => {
  const { sync, asked, results } = setUp([refuse(404), refuse(404), all]);
  await sync.now(['home_hero']);
  vi.setSystemTime(Date.now() - 2 * 86_400_000);
  expect(sync.blockedUntilMs()).toBeLessThanOrEqual(Date.now());
  await vi.advanceTimersByTimeAsync(30_000);
  expect(asked).toHaveLength(2);
  expect(sync.blockedUntilMs()).toBeGreaterThan(Date.now());
  await vi.advanceTimersByTimeAsync(59_999);
  expect(asked).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(results.map(({ banners }) => [...banners.keys()])).toEqual([['home_hero']]);
});

test.each([401, 403])(
  'case 15: after a %i a key function is asked again, and its new key used at once',
  async (status) => {
    const keys = ['old', 'new'];
    const { sync, asked, results, notices } = setUp([refuse(status), all], {
      apiKey: () => keys.shift() ?? 'new',
    });
    await sync.now(['home_hero']);
    expect(asked.map(({ request }) => request.headers.get('authorization'))).toEqual([
      'Bearer old',
      'Bearer new',
    ]);
    expect(results).toHaveLength(1);
    expect(notices).toEqual([]);
  },
);

test.each([
  [401, 'unauthorized'],
  [403, 'unauthorized'],
  [404, 'not-found'],
])('cases 15 and 16: a %i is told as %s and probed slowly, whatever the page does', async (status, kind) => {
  const { sync, asked, kinds, waiting } = setUp([refuse(status), all]);
  await sync.now(['home_hero']);
  expect(kinds()).toEqual([kind]);
  expect(waiting()).toEqual([kind]);
  sync.hurry();
  await vi.advanceTimersByTimeAsync(29_999);
  expect(asked).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(asked).toHaveLength(2);
});

test('a request that the service calls wrong is not repeated', async () => {
  const { sync, asked, kinds } = setUp([refuse(400)]);
  await sync.now(['home_hero']);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(kinds()).toEqual(['sync']);
  expect(asked).toHaveLength(1);
});

test.each([
  [
    'its words',
    () => json({ message: "'app_id' is not valid" }, { status: 400 }),
    "400 'app_id' is not valid",
  ],
  [
    'its words under the name that this endpoint has for them',
    () => json({ error: 'invalid API key' }, { status: 401 }),
    '401 invalid API key',
  ],
  [
    'its status, where it says nothing',
    () => new Response('', { status: 401, statusText: 'Unauthorized' }),
    '401 Unauthorized',
  ],
  ['that nothing came', () => Promise.reject(new TypeError('Failed to fetch')), 'network error'],
])('a failure says what the service did: %s', async (_, answer, reason) => {
  const { sync, notices } = setUp([answer as Answer]);
  await Promise.all([sync.now(['home_hero']), vi.advanceTimersByTimeAsync(60_000)]);
  const [failed] = notices.filter((notice) => notice.type === 'failed');
  expect(failed?.message).toMatch(/^Sync of home_hero had no usable answer: /);
  expect(failed?.message).toContain(reason);
});

test('case 23: a redirect is not followed, so that the key stays here', async () => {
  const { sync, asked } = setUp();
  await sync.now(['home_hero']);
  expect(asked[0]!.request.redirect).toBe('error');
  expect(asked[0]!.request.credentials).toBe('omit');
});

test('case 55: the answer’s date tells how far the device is off', async () => {
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  const { sync, results } = setUp([
    (asked) => {
      const answer = all(asked) as Response;
      answer.headers.set('date', date);
      return answer;
    },
  ]);
  await sync.now(['home_hero']);
  expect(results[0]?.clockSkewMs).toBe(3_600_000);
});

test('a key function that throws is a failed sync, not an exception', async () => {
  const { sync, kinds } = setUp([all], {
    apiKey: () => {
      throw new Error('no key');
    },
  });
  await sync.now(['home_hero']);
  expect(kinds()).toEqual(['sync']);
});

test('a key function that never answers is a failed sync, not a wait without end', async () => {
  const { sync, asked, kinds } = setUp([all], { apiKey: () => new Promise<string>(() => undefined) });
  const done = sync.now(['home_hero']);
  await vi.advanceTimersByTimeAsync(10_000);
  await done;
  expect(asked).toEqual([]);
  expect(kinds()).toEqual(['sync']);
});

test('after stop nothing is asked, told, or armed', async () => {
  const gate = Promise.withResolvers<Response>();
  const { sync, asked, results, notices } = setUp([() => gate.promise]);
  const done = sync.now(['home_hero']);
  await settle();
  sync.stop();
  gate.resolve(json({ banners: { home_hero: aWireBanner() } }));
  await done;
  sync.want(['sidebar']);
  await sync.now(['sidebar']);
  expect([asked.length, results, notices]).toEqual([1, [], []]);
  expect(vi.getTimerCount()).toBe(0);
});
