import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createExpiryRefetch } from '../../../src/client/banners/expiry-refetch.ts';
import { createRefreshBudget } from '../../../src/client/banners/refresh-budget.ts';
import { createSession } from '../../../src/client/banners/session.ts';
import type { Store } from '../../../src/client/index.ts';
import { createClock } from '../../../src/client/platform/clock.ts';
import { createMemoryStore } from '../../../src/client/platform/store.ts';
import { buildBanner } from '../../helpers/a-banner.ts';
import { aBannerCache } from '../../helpers/a-banner-cache.ts';

const JITTER_MS = 10_000;
const RULE = {
  refreshCapacity: 2,
  refreshIntervalMs: 180_000,
  sessionTimeoutMs: 30 * 60_000,
  impressionScope: 'session' as const,
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A tab with expired banners; tabs that share a store share their session. */
const openTab = async (store: Store, expired = ['home_hero']) => {
  const view = { visible: true, random: 0.5 };
  const clock = createClock();
  const cache = aBannerCache({
    store,
    settings: {
      endpoint: 'https://api.example',
      appId: 'app',
      platform: { ...clock, random: Math.random, openStore: () => store },
    },
  });
  await cache.open('u-1');
  const tools = { cache, after: clock.after, random: () => view.random, isVisible: () => view.visible };
  const session = createSession({
    tabKey: 'placard-tab',
    ...tools,
    mayWrite: () => true,
    rule: RULE,
    now: Date.now,
    onStart: () => undefined,
  });
  await session.start();
  const { spend } = createRefreshBudget({ rule: RULE, now: Date.now, change: session.change });
  const queue = vi.fn();
  const expiryRefetch = createExpiryRefetch({ ...tools, ...RULE, spend, queue });
  const expire = async () => {
    await cache.change((record) => {
      for (const placementId of expired) {
        const banner = buildBanner({ placementId, expiresAt: Date.now() - 1 });
        record.banners.set(placementId, { banner, fetchedAtMs: Date.now() });
      }
    });
    for (const placementId of expired) expiryRefetch.request(placementId);
  };
  return { expiryRefetch, queue, view, expire, spend, session, cache };
};

const spread = () => vi.advanceTimersByTimeAsync(JITTER_MS);

test('requests all expired banners in one sync within seconds, at a different moment in each browser', async () => {
  const { queue, expire, view } = await openTab(createMemoryStore(), ['home_hero', 'sidebar']);
  view.random = 0.9;
  await expire();
  await vi.advanceTimersByTimeAsync(8_999);
  expect(queue).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(queue.mock.calls).toEqual([[['home_hero', 'sidebar']]]);
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  expect(queue).toHaveBeenCalledTimes(1);
});

test('sends one request for many tabs', async () => {
  const store = createMemoryStore();
  const tabs = await Promise.all(Array.from({ length: 8 }, () => openTab(store)));
  await tabs[0]!.expire();
  for (const { expiryRefetch } of tabs) expiryRefetch.request('home_hero');
  await spread();
  expect(tabs.flatMap(({ queue }) => queue.mock.calls)).toHaveLength(1);
});

test('waits if the budget is empty, and spends one token per refresh', async () => {
  const { queue, expire, spend } = await openTab(createMemoryStore());
  await spend();
  await spend();
  await expire();
  await spread();
  expect(queue).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(2 * RULE.refreshIntervalMs);
  expect(queue).toHaveBeenCalledTimes(1);
});

test('does not exceed the refresh budget if banners expire again and again', async () => {
  const { queue, expire } = await openTab(createMemoryStore());
  for (let minute = 0; minute < 60; minute += 1) {
    await expire();
    await vi.advanceTimersByTimeAsync(60_000);
  }
  // Two at first, and then one every three minutes.
  expect(queue.mock.calls.length).toBeGreaterThan(10);
  expect(queue.mock.calls.length).toBeLessThanOrEqual(22);
});

test('does not send a request while the page is hidden', async () => {
  const { queue, expire, view, expiryRefetch } = await openTab(createMemoryStore());
  view.visible = false;
  await expire();
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect(queue).not.toHaveBeenCalled();
  view.visible = true;
  expiryRefetch.resume();
  await spread();
  expect(queue).toHaveBeenCalledTimes(1);
});

test('does not send requests or leave timers after stop', async () => {
  const { queue, expire, expiryRefetch, session } = await openTab(createMemoryStore());
  await expire();
  expiryRefetch.stop();
  session.stop();
  expect(vi.getTimerCount()).toBe(0);
  await spread();
  expect(queue).not.toHaveBeenCalled();
});

test('does not send requests or leave timers if it stops while it reads the budget', async () => {
  const store = createMemoryStore();
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  let isSlow = false;
  const { expiryRefetch, queue, expire, session } = await openTab({
    ...store,
    async update(keys, change) {
      if (isSlow) {
        asked.resolve();
        await answered.promise;
      }
      return store.update(keys, change);
    },
  });
  await expire();
  isSlow = true;
  await vi.advanceTimersByTimeAsync(JITTER_MS / 2);
  await asked.promise;
  expiryRefetch.stop();
  session.stop();
  answered.resolve();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(queue).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});
