import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { emptyRecord, recordKey, type UserRecord } from '../../../src/client/banners/user-record.ts';
import type { BannerBootstrap, Store } from '../../../src/client/index.ts';
import { createClock } from '../../../src/client/platform/clock.ts';
import { createMemoryStore } from '../../../src/client/platform/store.ts';
import { deleteUserRecords } from '../../../src/client/user/switch-user.ts';
import { buildBanner, getDismissal } from '../../helpers/a-banner.ts';
import { aBannerCache } from '../../helpers/a-banner-cache.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const ENDPOINT = 'https://api.example';
const getKey = (userId: string, appId = 'app') => recordKey(ENDPOINT, appId, userId);

const setUp = (store: Store = createMemoryStore(), bootstrap?: BannerBootstrap) => {
  const errors: unknown[] = [];
  const onChange = vi.fn();
  const time = { now: 1_000_000 };
  const cache = aBannerCache({
    settings: {
      endpoint: ENDPOINT,
      appId: 'app',
      ...(bootstrap && { bootstrap }),
      platform: { ...createClock({ now: () => time.now }), random: Math.random, openStore: () => store },
    },
    store,
    fail: (_kind, _message, cause) => errors.push(cause),
  });
  cache.setListener(onChange);
  return { cache, errors, onChange, store, time };
};

const stored = (banner = buildBanner(), fetchedAtMs = 1) => ({
  ...emptyRecord(),
  banners: new Map([[banner.placementId, { banner, fetchedAtMs }]]),
});

test('shows the banner that a previous page stored, after one read', async () => {
  const store = createMemoryStore();
  await store.setMany([[getKey('u-1'), stored()]]);
  const get = vi.spyOn(store, 'get');
  const { cache } = setUp(store);
  expect(cache.current('home_hero')).toBeUndefined();
  await cache.open('u-1');
  expect(cache.current('home_hero')).toEqual(buildBanner());
  expect(cache.wasReturned(buildBanner())).toBe(true);
  expect(get).toHaveBeenCalledTimes(1);
});

test('distinguishes a placement without a banner from a placement that was never requested', async () => {
  const { cache } = setUp();
  await cache.open('u-1');
  await cache.change((record) => {
    record.banners.set('home_hero', { banner: null, fetchedAtMs: 1 });
  });
  expect(cache.current('home_hero')).toBeNull();
  expect(cache.current('sidebar')).toBeUndefined();
});

test('contract 7.2: a banner expires after the second of its expiry time, not during it', async () => {
  const { cache, time } = setUp();
  await cache.open('u-1');
  await cache.change((record) => Object.assign(record, stored(buildBanner({ expiresAt: 2_000_000 }))));
  time.now = 2_000_000;
  expect(cache.current('home_hero')?.id).toBe('bnr-1');
  time.now = 2_000_001;
  expect(cache.current('home_hero')).toBeNull();
});

test('case 55: expiry follows the server clock on a device two days behind', async () => {
  const { cache, time } = setUp();
  const twoDays = 48 * 3_600_000;
  await cache.open('u-1');
  await cache.change((record) => {
    Object.assign(record, stored(buildBanner({ expiresAt: time.now + twoDays - 1 })));
    record.clockSkewMs = twoDays;
  });
  expect(cache.current('home_hero')).toBeNull();
});

test('applies a change at once, and stores it before the promise resolves', async () => {
  const { cache, onChange, store } = setUp();
  await cache.open('u-1');
  onChange.mockClear();
  const done = cache.change((record) => {
    record.banners.set('home_hero', { banner: buildBanner(), fetchedAtMs: 1 });
    return 'verdict';
  });
  expect(cache.current('home_hero')?.id).toBe('bnr-1');
  expect(onChange).toHaveBeenCalled();
  expect(await done).toBe('verdict');
  expect(await store.get(getKey('u-1'))).toMatchObject({
    banners: new Map([['home_hero', { banner: expect.objectContaining({ id: 'bnr-1' }), fetchedAtMs: 1 }]]),
  });
});

test('keeps the changes of two tabs to the same record', async () => {
  const store = createMemoryStore();
  const [a, b] = [setUp(store).cache, setUp(store).cache];
  await Promise.all([a.open('u-1'), b.open('u-1')]);
  await Promise.all([
    a.change((record) => {
      record.banners.set('a', { banner: null, fetchedAtMs: 1 });
    }),
    b.change((record) => {
      record.banners.set('b', { banner: null, fetchedAtMs: 2 });
    }),
  ]);
  expect(await store.get(getKey('u-1'))).toMatchObject({
    banners: new Map([
      ['a', { banner: null, fetchedAtMs: 1 }],
      ['b', { banner: null, fetchedAtMs: 2 }],
    ]),
  });
  await a.reread();
  expect([...a.record().banners.keys()].sort()).toEqual(['a', 'b']);
});

/** Returns `true` on the first call only. */
const take = (record: UserRecord) => {
  if (record.banners.has('taken')) return false;
  record.banners.set('taken', { banner: null, fetchedAtMs: 1 });
  return true;
};

test('resolves a change with the stored result if another tab was faster', async () => {
  const store = createMemoryStore();
  const [a, b] = [setUp(store).cache, setUp(store).cache];
  await Promise.all([a.open('u-1'), b.open('u-1')]);
  expect(await Promise.all([a.change(take), b.change(take)])).toEqual([true, false]);
});

test('case 42: a retried write keeps its first result if the response was lost after the commit', async () => {
  const store = createMemoryStore();
  const { update } = store;
  const { cache } = setUp({
    ...store,
    async update(keys, change) {
      await update(keys, change);
      await update(keys, change);
    },
  });
  await cache.open('u-1');
  expect(await cache.change(take)).toBe(true);
  expect(await cache.change(take)).toBe(false);
});

test('contract 7.8: the next user does not see or track banners of the previous user', async () => {
  const { cache, store } = setUp();
  await cache.open('u-1');
  await cache.change((record) => Object.assign(record, stored()));
  const opened = cache.open('u-2');
  expect(cache.current('home_hero')).toBeUndefined();
  expect(cache.wasReturned(buildBanner())).toBe(false);
  await opened;
  await deleteUserRecords(store, cache.key, cache.userId);
  expect(await store.get(getKey('u-1'))).toBeUndefined();
});

test('discards a pending change from the previous user’s tab after the user changes', async () => {
  const { cache, store } = setUp();
  await cache.open('u-1');
  const late = cache.change((record) => Object.assign(record, stored()));
  await cache.open('u-2');
  await late;
  await deleteUserRecords(store, cache.key, cache.userId);
  expect(await store.entries()).toEqual([]);
});

test('contract 7.8: if the user changes in another tab, continues in memory and does not store the previous user', async () => {
  const store = createMemoryStore();
  const { cache } = setUp(store);
  await cache.open('u-1');
  await cache.change((record) => Object.assign(record, stored()));
  await cache.dismiss([getDismissal(buildBanner())]);
  await deleteUserRecords(store, cache.key, () => 'u-2');
  const dismissed = await cache.change((record) => {
    record.clockSkewMs = 7;
    return record.dismissed.length;
  });
  expect(dismissed).toBe(1);
  await cache.reread();
  expect(cache.record()).toMatchObject({ dismissed: [{ bannerId: 'bnr-1' }], clockSkewMs: 7 });
  expect(cache.current('home_hero')).toBeNull();
  expect(await store.entries()).toEqual([]);
});

test('stores a user’s record again after another tab removed it, once this tab opens the record', async () => {
  const store = createMemoryStore();
  const { cache } = setUp(store);
  await cache.open('u-1');
  await cache.change((record) => Object.assign(record, stored()));
  await deleteUserRecords(store, cache.key, () => null);
  await cache.open('u-1');
  expect(cache.current('home_hero')).toBeUndefined();
  await cache.change((record) => Object.assign(record, stored()));
  expect(await store.get(getKey('u-1'))).toMatchObject({
    banners: new Map([['home_hero', expect.anything()]]),
  });
});

test('keeps the record of a user who signs out and signs in again before the record is removed', async () => {
  const { cache, store } = setUp();
  await cache.open('u-1');
  await cache.change((record) => Object.assign(record, stored()));
  await cache.open(null);
  const forgotten = deleteUserRecords(store, cache.key, cache.userId);
  await cache.open('u-1');
  await forgotten;
  await cache.dismiss([getDismissal(buildBanner())]);
  expect(await store.get(getKey('u-1'))).toMatchObject({ dismissed: [{ bannerId: 'bnr-1' }] });
});

test('does not show a record of the previous user to the next user if it is read late', async () => {
  const store = createMemoryStore();
  await store.setMany([[getKey('u-1'), stored()]]);
  const { cache } = setUp(store);
  const first = cache.open('u-1');
  await cache.open('u-2');
  await first;
  expect(cache.current('home_hero')).toBeUndefined();
});

test('keeps other apps and the current user when it removes other users', async () => {
  const store = createMemoryStore();
  await store.setMany([
    [getKey('u-1'), stored()],
    [getKey('u-2'), stored()],
    [getKey('u-1', 'other-app'), stored()],
  ]);
  const { cache } = setUp(store);
  await cache.open('u-1');
  await deleteUserRecords(store, cache.key, cache.userId);
  expect((await store.entries()).map(([key]) => key)).toEqual([getKey('u-1'), getKey('u-1', 'other-app')]);
});

test('contract 7.8: does not write to the store after a wipe', async () => {
  const { cache, store } = setUp();
  await cache.open('u-1');
  await cache.change((record) => Object.assign(record, stored()));
  const late = cache.change((record) => {
    record.clockSkewMs = 1;
  });
  void cache.open(null);
  await deleteUserRecords(store, cache.key, cache.userId);
  await late;
  await cache.change((record) => {
    record.clockSkewMs = 2;
  });
  expect(await store.entries()).toEqual([]);
  expect(cache.current('home_hero')).toBeUndefined();
});

test('case 44: does not read or delete a record of another version', async () => {
  const store = createMemoryStore();
  const foreign = ['user', 99, ENDPOINT, 'app', 'u-1'];
  await store.setMany([[foreign, { version: 99, banners: 'packed' }]]);
  const { cache } = setUp(store);
  await cache.open('u-1');
  void cache.open(null);
  await deleteUserRecords(store, cache.key, cache.userId);
  expect(await store.get(foreign)).toEqual({ version: 99, banners: 'packed' });
});

test.each([
  [null],
  ['text'],
  [{ version: 1 }],
  [{ ...emptyRecord(), dismissed: {} }],
  [{ ...emptyRecord(), dismissed: [null] }],
  [{ ...emptyRecord(), banners: null }],
  [{ ...emptyRecord(), banners: new Map([['sidebar', null]]) }],
  [{ ...emptyRecord(), clockSkewMs: null }],
])(
  'case 46: treats a corrupt record (%j) as missing, and replaces it with the next change',
  async (damaged) => {
    const store = createMemoryStore();
    await store.setMany([[getKey('u-1'), damaged]]);
    const { cache } = setUp(store);
    await cache.open('u-1');
    expect(cache.current('home_hero')).toBeUndefined();
    await cache.change((record) => Object.assign(record, stored()));
    expect(await store.get(getKey('u-1'))).toMatchObject({
      version: 1,
      banners: new Map([['home_hero', expect.anything()]]),
    });
  },
);

test('reports a failing store and continues in memory', async () => {
  const store = { ...createMemoryStore(), update: () => Promise.reject(new Error('QuotaExceededError')) };
  const { cache, errors } = setUp(store);
  await cache.open('u-1');
  expect(await cache.change((record) => Object.assign(record, stored()) && 'kept')).toBe('kept');
  expect(cache.current('home_hero')?.id).toBe('bnr-1');
  expect(errors).toEqual([new Error('QuotaExceededError')]);
});

test.each([
  ['before it begins', () => Promise.reject(new Error('UnknownError'))],
  [
    'at its commit',
    async (_keys: unknown, change: (found: undefined[]) => unknown) => {
      change([undefined]);
      throw new Error('QuotaExceededError');
    },
  ],
])('contract 7.5: the next write also stores the changes of a write that failed once %s', async (_, fail) => {
  const store = createMemoryStore();
  const update = vi.spyOn(store, 'update');
  const { cache } = setUp(store);
  await cache.open('u-1');
  await cache.change((record) => Object.assign(record, stored()));
  update.mockImplementationOnce(fail as never);
  await cache.dismiss([getDismissal(buildBanner())]);
  await cache.reread();
  expect(cache.current('home_hero')).toBeNull();
  const counted = vi.fn();
  await cache.change(counted);
  expect(cache.current('home_hero')).toBeNull();
  expect(await store.get(getKey('u-1'))).toMatchObject({
    banners: new Map([['home_hero', expect.objectContaining({ banner: null })]]),
    dismissed: [{ bannerId: 'bnr-1' }],
  });
  // Applied in memory and in the store, and not again.
  await cache.change(() => undefined);
  expect(counted).toHaveBeenCalledTimes(2);
});

test('discards the unsaved changes of the previous user when the next user signs in, and all after a wipe', async () => {
  const store = createMemoryStore();
  const update = vi.spyOn(store, 'update').mockRejectedValue(new Error('UnknownError'));
  const { cache } = setUp(store);
  await cache.open('u-1');
  await cache.change((record) => Object.assign(record, stored()));
  const late = cache.change((record) => Object.assign(record, stored()));
  const opened = cache.open('u-2');
  await Promise.all([late, opened]);
  update.mockRestore();
  await cache.change(() => undefined);
  expect(cache.current('home_hero')).toBeUndefined();
  expect((await store.entries()).map(([, value]) => value)).toEqual([emptyRecord()]);
});

test('does not accumulate unsaved changes if every write fails', async () => {
  const store = createMemoryStore();
  const update = vi.spyOn(store, 'update').mockRejectedValue(new Error('QuotaExceededError'));
  const { cache } = setUp(store);
  await cache.open('u-1');
  const count = vi.fn();
  for (let i = 0; i < 1_000; i++) await cache.change(count);
  update.mockRestore();
  count.mockClear();
  await cache.change(() => undefined);
  expect(count.mock.calls.length).toBeLessThanOrEqual(200);
});

test('writes the full state of the page once a store recovers, after any number of failures', async () => {
  const memory = createMemoryStore();
  let isFull = true;
  const update: Store['update'] = (...changes) =>
    isFull ? Promise.reject(new Error('full')) : memory.update(...changes);
  const { cache } = setUp({ ...memory, update });
  await cache.open('u-1');
  await cache.change((record) => Object.assign(record, stored()));
  for (let changes = 0; changes < 150; changes += 1) await cache.change(() => undefined);
  isFull = false;
  await cache.change(() => undefined);
  expect(cache.current('home_hero')).toEqual(buildBanner());
  expect(await memory.get(getKey('u-1'))).toMatchObject({ banners: stored().banners });
});

test('applies a bootstrap only on the first visit of its user, because later visits have newer responses', async () => {
  const bootstrap = {
    version: 1,
    appId: 'app',
    userId: 'u-1',
    fetchedAtMs: 1,
    banners: { home_hero: buildBanner() },
  };
  const { cache } = setUp(createMemoryStore(), bootstrap as BannerBootstrap);
  await cache.open('u-2');
  expect(cache.current('home_hero')).toBeUndefined();
  await cache.open('u-1');
  expect(cache.current('home_hero')).toEqual(buildBanner());
  await cache.open(null);
  await cache.open('u-1');
  expect(cache.current('home_hero')).toBeUndefined();
});

test('case 46: does not repeat a change that throws on a corrupt record with the next change', async () => {
  const store = createMemoryStore();
  await store.setMany([[getKey('u-1'), { ...stored(), dismissed: [null] }]]);
  const { cache } = setUp(store);
  const opened = cache.open('u-1');
  // Before the corrupt record is read, memory holds what the store cannot.
  await cache.dismiss([getDismissal(buildBanner())]);
  await opened;
  await cache.change((record) => {
    record.clockSkewMs = 7;
  });
  expect(await store.get(getKey('u-1'))).toMatchObject({ clockSkewMs: 7 });
});

test('case 41: waits two seconds only once if opening the store never settles', async () => {
  const never = () => new Promise<never>(() => undefined);
  const { cache, errors } = setUp({ ...createMemoryStore(), get: never, update: never });
  const opened = vi.fn();
  void cache.open('u-1').then(opened);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(opened).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(opened).toHaveBeenCalled();
  expect(errors).toHaveLength(1);
  expect(await cache.change(() => 'verdict')).toBe('verdict');
});

test('case 41: uses a store that responds late', async () => {
  const inner = createMemoryStore();
  await inner.setMany([[getKey('u-1'), stored()]]);
  const gate = Promise.withResolvers<void>();
  const { cache } = setUp({ ...inner, get: (key) => gate.promise.then(() => inner.get(key)) });
  const opened = cache.open('u-1');
  await vi.advanceTimersByTimeAsync(2_000);
  await opened;
  expect(cache.current('home_hero')).toBeUndefined();
  gate.resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect(cache.current('home_hero')?.id).toBe('bnr-1');
});

test('does not count the time that a page is suspended while it waits for the store', async () => {
  const store = createMemoryStore();
  await store.setMany([[getKey('u-1'), stored()]]);
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const { cache, errors } = setUp({ ...store, get: (key) => answered.then(() => store.get(key)) });
  const opened = cache.open('u-1');
  // When the page resumes, the timer is due first, and the response right after it.
  vi.advanceTimersToNextTimer();
  answer();
  await opened;
  expect(cache.current('home_hero')).toEqual(buildBanner());
  expect(errors).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});
