import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Answer, all, json, refuse, settle, setUp } from './arrange-sync.ts';

const SYNC_URL = 'https://api.example/base/v1/device-messaging/banners/sync';

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 2, 1) }));
afterEach(() => void vi.useRealTimers());

test('contract 1.5: waits as long as a 429 requests, and empties the budget', async () => {
  const { sync, sent, results, waiting, onRateLimit } = setUp([
    refuse(429, { 'x-ratelimit-retry-after': '120' }),
    all,
  ]);
  await sync.now(['home_hero']);
  expect(onRateLimit).toHaveBeenCalledTimes(1);
  expect(waiting()).toEqual(['rate-limit']);
  sync.retry();
  sync.queue(['sidebar']);
  await vi.advanceTimersByTimeAsync(119_999);
  expect(sent).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(sent).toHaveLength(2);
  expect(results.flatMap(({ banners }) => [...banners.keys()]).sort()).toEqual(['home_hero', 'sidebar']);
});

test.each([
  ['a response', all],
  ['an error', refuse(500)],
  ['a lost response', () => Promise.reject(new TypeError('Failed to fetch'))],
])('case 17: %s to another request does not shorten the wait that a 429 requested', async (_, other) => {
  let isOver = false;
  const answer: Answer = async (request) => {
    if (isOver) return all(request);
    if (request.body.placements.includes('p-11')) return refuse(429, { 'retry-after': '600' })(request);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    return other(request);
  };
  const { sync, sent, results } = setUp([answer]);
  sync.queue(Array.from({ length: 12 }, (_, i) => `p-${i}`));
  await vi.advanceTimersByTimeAsync(30_000);
  isOver = true;
  const before = sent.length;
  sync.retry();
  await vi.advanceTimersByTimeAsync(569_999);
  expect(sent).toHaveLength(before);
  await vi.advanceTimersByTimeAsync(1);
  expect(results.flatMap(({ banners }) => [...banners.keys()])).toContain('p-11');
});

test('counts parallel failed requests as one failure in the backoff', async () => {
  const { sync, sent } = setUp([refuse(400)]);
  await sync.now(Array.from({ length: 30 }, (_, i) => `p-${i}`));
  expect(sent).toHaveLength(3);
  expect(sync.blockedUntilMs() - Date.now()).toBe(2_000);
});

test('contract 1.5: waits for the Retry-After of a 503, even if `retry()` is called earlier', async () => {
  const { sync, sent, results, waiting } = setUp([refuse(503, { 'retry-after': '600' }), all]);
  sync.queue(['home_hero']);
  await vi.advanceTimersByTimeAsync(599_999);
  sync.retry();
  await settle();
  expect(sent).toHaveLength(1);
  expect(waiting()).toEqual(['backoff']);
  await vi.advanceTimersByTimeAsync(1);
  expect(results).toHaveLength(1);
});

test('contract 1.5: waits for the Retry-After of a 503 or for the backoff, whichever is longer', async () => {
  const { sync, sent } = setUp([refuse(503, { 'retry-after': '5' })]);
  sync.queue(['home_hero']);
  await vi.advanceTimersByTimeAsync(4_999);
  expect(sent).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(sent).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(sent).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(7_999);
  expect(sent).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(1);
  expect(sent).toHaveLength(4);
});

test('contract 1.5: ignores the rate-limit window in the headers of a 503', async () => {
  const reset = String(Date.now() / 1000 + 3_600);
  const { sync, sent } = setUp([refuse(500, { 'x-ratelimit-reset': reset })]);
  sync.queue(['home_hero']);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent.length).toBeGreaterThan(3);
});

test('contract 1.5: uses the reset epoch if there is no retry header', async () => {
  const reset = String(Date.now() / 1000 + 90);
  const { sync, sent } = setUp([refuse(429, { 'x-ratelimit-reset': reset }), all]);
  await sync.now(['home_hero']);
  await vi.advanceTimersByTimeAsync(89_999);
  expect(sent).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(sent).toHaveLength(2);
});

test.each([
  ['a reset that has passed', { 'x-ratelimit-reset': '1' }],
  ['no time at all', { 'retry-after': '0' }],
])('does not retry at once after a 429 with %s, even if it repeats', async (_, headers) => {
  const { sync, sent } = setUp(Array.from({ length: 50 }, () => refuse(429, headers)));
  await sync.now(['home_hero']);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(sent).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  expect(sent.length).toBeLessThan(22);
});

test('limits a requested wait to one hour', async () => {
  const { sync, sent } = setUp([refuse(429, { 'retry-after': '999999' }), all]);
  await sync.now(['home_hero']);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(sent).toHaveLength(2);
});

test('does not extend a wait to days or skip the next one if the clock is set back during the wait', async () => {
  const { sync, sent, results } = setUp([refuse(404), refuse(404), all]);
  await sync.now(['home_hero']);
  vi.setSystemTime(Date.now() - 2 * 86_400_000);
  expect(sync.blockedUntilMs()).toBeLessThanOrEqual(Date.now());
  await vi.advanceTimersByTimeAsync(2_000);
  expect(sent).toHaveLength(2);
  expect(sync.blockedUntilMs()).toBeGreaterThan(Date.now());
  await vi.advanceTimersByTimeAsync(3_999);
  expect(sent).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(results.map(({ banners }) => [...banners.keys()])).toEqual([['home_hero']]);
});

test.each([401, 403])(
  'case 15: calls the key function again after a %i, and uses the new key at once',
  async (status) => {
    const keys = ['old', 'new'];
    const { sync, sent, results, notices } = setUp([refuse(status), all], {
      apiKey: () => keys.shift() ?? 'new',
    });
    await sync.now(['home_hero']);
    expect(sent.map(({ request }) => request.headers.get('authorization'))).toEqual([
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
])(
  'cases 15 and 16: reports a %i as %s and backs off, even if `retry()` is called earlier',
  async (status, kind) => {
    const { sync, sent, kinds, waiting } = setUp([refuse(status), all]);
    await sync.now(['home_hero']);
    expect(kinds()).toEqual([kind]);
    expect(waiting()).toEqual([kind]);
    sync.retry();
    await vi.advanceTimersByTimeAsync(1_999);
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(sent).toHaveLength(2);
  },
);

test('does not retry a request that the service rejects as invalid', async () => {
  const { sync, sent, kinds } = setUp([refuse(400)]);
  await sync.now(['home_hero']);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(kinds()).toEqual(['sync']);
  expect(sent).toHaveLength(1);
});

test.each([
  [
    'its message',
    () => json({ message: "'app_id' is not valid" }, { status: 400 }),
    `HTTP 400 from ${SYNC_URL}: 'app_id' is not valid`,
  ],
  [
    'its message in the member `error`',
    () => json({ error: 'invalid API key' }, { status: 401 }),
    `HTTP 401 from ${SYNC_URL}: invalid API key`,
  ],
  ['its status if there is no message', () => new Response('', { status: 401 }), `HTTP 401 from ${SYNC_URL}`],
  [
    'the error of the request',
    () => Promise.reject(new TypeError('Failed to fetch')),
    `No response from ${SYNC_URL}: Failed to fetch`,
  ],
])('includes the reason in a failure: %s', async (_, answer, reason) => {
  const { sync, notices } = setUp([answer as Answer]);
  await Promise.all([sync.now(['home_hero']), vi.advanceTimersByTimeAsync(60_000)]);
  const [failed] = notices.filter((notice) => notice.type === 'failed');
  expect(failed?.message).toBe(`Sync of home_hero failed: ${reason}`);
});

test('case 23: does not follow a redirect, so that the key is not sent to another origin', async () => {
  const { sync, sent } = setUp();
  await sync.now(['home_hero']);
  expect(sent[0]!.request.redirect).toBe('error');
  expect(sent[0]!.request.credentials).toBe('omit');
});

test('does not delay the next user after the service rejected the previous user', async () => {
  const { sync, sent, results, state } = setUp([refuse(401), all]);
  await sync.now(['home_hero']);
  expect(sync.blockedUntilMs()).toBeGreaterThan(Date.now());
  sync.reset();
  state.userId = 'u-2';
  sync.queue(['home_hero']);
  await settle();
  expect(sent.map(({ body }) => body.external_user_id)).toEqual(['u-1', 'u-2']);
  expect(results.map(({ userId }) => userId)).toEqual(['u-2']);
});

test('contract 1.5: a rate limit also applies to the next user who signs in', async () => {
  const { sync, sent, state } = setUp([refuse(429, { 'retry-after': '60' }), all]);
  await sync.now(['home_hero']);
  sync.reset();
  state.userId = 'u-2';
  sync.queue(['home_hero']);
  await vi.advanceTimersByTimeAsync(59_999);
  expect(sent).toHaveLength(1);
});
