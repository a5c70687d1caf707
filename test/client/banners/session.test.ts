import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRefreshBudget } from '../../../src/client/banners/refresh-budget.ts';
import { createSession } from '../../../src/client/banners/session.ts';
import { emptyRecord, recordKey } from '../../../src/client/banners/user-record.ts';
import type { BannerOptions, Store } from '../../../src/client/index.ts';
import { createClock } from '../../../src/client/platform/clock.ts';
import { createMemoryStore } from '../../../src/client/platform/store.ts';
import { aBannerCache } from '../../helpers/a-banner-cache.ts';

const MINUTE = 60_000;
const RULE: BannerOptions = {
  refreshCapacity: 5,
  refreshIntervalMs: 180_000,
  sessionTimeoutMs: 30 * MINUTE,
  impressionScope: 'session',
};

beforeEach(() => {
  vi.useFakeTimers();
  sessionStorage.clear();
});
afterEach(() => void vi.useRealTimers());

/** A tab; tabs that share a store share their session. */
const openTab = async ({
  store = createMemoryStore() as Store,
  rule = {},
  userId = 'u-1',
  isStarted = true,
} = {}) => {
  const view = { visible: true };
  const cache = aBannerCache({ store });
  await cache.open(userId);
  const onStart = vi.fn();
  const session = createSession({
    tabKey: 'placard-tab',
    mayWrite: () => true,
    cache,
    rule: { ...RULE, ...rule },
    now: Date.now,
    after: createClock().after,
    random: Math.random,
    isVisible: () => view.visible,
    onStart,
  });
  const budget = createRefreshBudget({ rule: RULE, now: Date.now, change: session.change });
  if (isStarted) await session.start();
  return { session, budget, cache, onStart, view, store };
};

test('starts a session with the first page and reports it once', async () => {
  const { onStart, cache } = await openTab();
  expect(onStart).toHaveBeenCalledTimes(1);
  expect(cache.record().session?.id).toEqual(expect.any(String));
});

test('reports a session that an impression starts once, and keeps it alive', async () => {
  const { session, onStart, cache } = await openTab({ isStarted: false });
  expect(session.hasBegun()).toBe(false);
  await session.dedupName('home_hero', 'bnr-1');
  expect(session.hasBegun()).toBe(true);
  const { id } = cache.record().session!;
  await session.start();
  await vi.advanceTimersByTimeAsync(40 * MINUTE);
  await session.touch();
  expect(cache.record().session?.id).toBe(id);
  expect(onStart).toHaveBeenCalledTimes(1);
  session.leave();
  expect(session.hasBegun()).toBe(false);
  await session.start();
  expect(onStart).toHaveBeenCalledTimes(2);
});

test('contract 7.4: an impression has one deduplication name per banner, placement and session', async () => {
  const { session } = await openTab();
  const name = await session.dedupName('home_hero', 'bnr-1');
  expect(await session.dedupName('home_hero', 'bnr-1')).toBe(name);
  expect(await session.dedupName('home_hero', 'bnr-2')).not.toBe(name);
  expect(await session.dedupName('sidebar', 'bnr-1')).not.toBe(name);
});

test('case 39: two tabs and a reload share one deduplication name for an impression', async () => {
  const a = await openTab();
  const b = await openTab({ store: a.store });
  const name = await a.session.dedupName('home_hero', 'bnr-1');
  expect(await b.session.dedupName('home_hero', 'bnr-1')).toBe(name);
  const reloaded = await openTab({ store: a.store });
  expect(await reloaded.session.dedupName('home_hero', 'bnr-1')).toBe(name);
});

test('case 39: with scope "tab", each tab has its own name, which a reload keeps', async () => {
  const rule = { impressionScope: 'tab' } as const;
  const a = await openTab({ rule });
  const name = await a.session.dedupName('home_hero', 'bnr-1');
  const reloaded = await openTab({ store: a.store, rule });
  expect(await reloaded.session.dedupName('home_hero', 'bnr-1')).toBe(name);
  // Another tab has its own sessionStorage.
  sessionStorage.clear();
  const other = await openTab({ store: a.store, rule });
  expect(await other.session.dedupName('home_hero', 'bnr-1')).not.toBe(name);
});

test('a session lasts as long as a page is visible', async () => {
  const { session, cache } = await openTab();
  const { id } = cache.record().session!;
  await vi.advanceTimersByTimeAsync(5 * 60 * MINUTE);
  await session.touch();
  expect(cache.record().session?.id).toBe(id);
});

test('a session ends after 30 minutes without a visible page, and impressions count again', async () => {
  const { session, view, onStart } = await openTab();
  const name = await session.dedupName('home_hero', 'bnr-1');
  view.visible = false;
  await vi.advanceTimersByTimeAsync(30 * MINUTE);
  expect(onStart).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1 * MINUTE + 1);
  view.visible = true;
  await session.touch();
  expect(onStart).toHaveBeenCalledTimes(2);
  expect(await session.dedupName('home_hero', 'bnr-1')).not.toBe(name);
});

test.each([[{}], [{ id: 'old' }], [{ visibleAtMs: Number.MAX_SAFE_INTEGER }], ['text'], [undefined]])(
  'case 46: replaces a corrupt session (%j) with a new one, and counts impressions again',
  async (session) => {
    const store = createMemoryStore();
    await store.setMany([[recordKey('https://api.example', 'app', 'u-1'), { ...emptyRecord(), session }]]);
    const tab = await openTab({ store });
    expect(tab.onStart).toHaveBeenCalledTimes(1);
    expect(await tab.session.dedupName('home_hero', 'bnr-1')).toEqual(expect.any(String));
    expect(await tab.budget.spend()).toBe(true);
  },
);

test('a tab hidden for an hour joins the session that another tab kept alive', async () => {
  const hidden = await openTab();
  const visible = await openTab({ store: hidden.store });
  const name = await visible.session.dedupName('home_hero', 'bnr-1');
  hidden.view.visible = false;
  await vi.advanceTimersByTimeAsync(60 * MINUTE);
  hidden.view.visible = true;
  await hidden.session.touch();
  expect(hidden.onStart).toHaveBeenCalledTimes(1);
  expect(await hidden.session.dedupName('home_hero', 'bnr-1')).toBe(name);
});

test('contract 7.3: removes a test send with the next session', async () => {
  const { session, cache, view } = await openTab();
  cache.testSends.set('home_hero', { id: 'test' } as never);
  view.visible = false;
  await vi.advanceTimersByTimeAsync(31 * MINUTE);
  await session.touch();
  expect(cache.testSends.size).toBe(0);
});

test('contract 7.6: allows five refreshes across all tabs, then one every 180 s', async () => {
  const a = await openTab();
  const b = await openTab({ store: a.store });
  const granted: boolean[] = [];
  for (let i = 0; i < 3; i++) granted.push(await a.budget.spend(), await b.budget.spend());
  expect(granted).toEqual([true, true, true, true, true, false]);
  await vi.advanceTimersByTimeAsync(180_000);
  expect(await b.budget.spend()).toBe(true);
  expect(await a.budget.spend()).toBe(false);
});

test('contract 7.6: the budget does not outlive the session', async () => {
  const { budget, view } = await openTab();
  for (let i = 0; i < 5; i++) await budget.spend();
  view.visible = false;
  await vi.advanceTimersByTimeAsync(31 * MINUTE);
  expect(await budget.spend()).toBe(true);
});

test('contract 7.6: a 429 empties the bucket', async () => {
  const { budget } = await openTab();
  await budget.spendAll();
  expect(await budget.spend()).toBe(false);
  await vi.advanceTimersByTimeAsync(180_000);
  expect(await budget.spend()).toBe(true);
});

test('leaves no timers after stop', async () => {
  const { session } = await openTab();
  session.stop();
  expect(vi.getTimerCount()).toBe(0);
});
