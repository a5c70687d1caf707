import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createPlacard, type Notice, type Platform, type Store } from '../../src/client/index.ts';
import { createMemoryStore } from '../../src/client/platform/memory-store.ts';
import { createFakeService, aBanner as wire } from '../../src/testing/index.ts';

/** How often the import of the later chunk fails from now on. */
const network = vi.hoisted(() => ({ failures: 0 }));
vi.mock('../../src/client/after-paint.ts', async (original) => {
  const { createAfterPaint } = await original<typeof import('../../src/client/after-paint.ts')>();
  return {
    get createAfterPaint() {
      if (network.failures === 0) return createAfterPaint;
      network.failures -= 1;
      throw new TypeError('Failed to fetch dynamically imported module');
    },
  };
});

beforeEach(() => void vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 5 }));
afterEach(() => void vi.useRealTimers());

/** Pages of one browser profile, one after the other. */
const aBrowser = () => {
  const service = createFakeService({ banners: { home_hero: wire('home_hero') } });
  const stores = new Map<string, Store>();
  const platform: Partial<Platform> = {
    fetch: service.fetch,
    openStore(name) {
      if (!stores.has(name)) stores.set(name, createMemoryStore());
      return stores.get(name)!;
    },
  };
  const visit = () => {
    const notices: Notice[] = [];
    const placard = createPlacard({
      endpoint: service.origin,
      apiKey: 'client-key',
      appId: 'app',
      appVersion: '1',
      userId: 'u-1',
      platform,
    });
    placard.subscribe((notice) => notices.push(notice));
    const slot = document.createElement('div');
    document.body.append(slot);
    placard.mount('home_hero', slot, () => undefined);
    const heard = (type: Notice['type']) =>
      vi.waitFor(() => expect(notices.map((notice) => notice.type)).toContain(type), { timeout: 15_000 });
    return { placard, notices, heard };
  };
  return { service, stores, visit };
};

test('case 40: an opt-out while the rest of the client does not load holds when it does, and on the next visit', async () => {
  const { service, stores, visit } = aBrowser();
  const { placard, heard } = visit();
  await heard('synced');
  await placard.track(placard.banner('home_hero')!, 'click');
  placard.stop();
  service.clear();

  network.failures = 2;
  const second = visit();
  const optedOut = second.placard.disable('purge');
  await vi.advanceTimersByTimeAsync(60_000);
  await optedOut;
  expect(network.failures).toBe(0);
  expect(service.requests).toEqual([]);
  expect(await second.placard.diagnostics()).toMatchObject({ pending: 0, purged: 1 });
  expect(await stores.get('placard-banners')!.entries()).toEqual([]);
  second.placard.stop();

  const third = visit();
  await third.heard('consent');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(third.notices.filter(({ type }) => type === 'consent')).toHaveLength(1);
  expect(service.requests).toEqual([]);
  third.placard.stop();
});

test('a chunk that is gone for good is asked for less and less often, and one that comes back is found', async () => {
  const { service, visit } = aBrowser();
  const first = visit();
  await first.heard('synced');
  first.placard.stop();
  service.clear();

  const MANY = 1_000;
  network.failures = MANY;
  const { placard, heard, notices } = visit();
  await heard('shown');
  const click = placard.track(placard.banner('home_hero')!, 'click');
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  const tries = MANY - network.failures;
  expect(tries).toBeGreaterThan(8);
  // Both for the click and for the session, once a minute at last.
  expect(tries).toBeLessThan(40);
  const failed = notices.filter((notice) => notice.type === 'failed');
  expect(failed.length).toBeGreaterThan(8);
  expect(failed[0]!.message).toContain('Failed to fetch dynamically imported module');

  network.failures = 0;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await click).toMatchObject({ type: 'click' });
  placard.stop();
});
