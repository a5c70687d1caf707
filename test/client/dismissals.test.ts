import { expect, test, vi } from 'vitest';
import type { LogEvent } from '../../src/client/delivery/log/records.ts';
import { logName } from '../../src/client/options/options.ts';
import { createMemoryStore } from '../../src/client/platform/store.ts';
import { TRACK_PATH } from '../../src/protocol/index.ts';
import { createFakeService, createFaultyStore, buildBanner as wire } from '../../src/testing/index.ts';
import { aProfile, aSlot, draw, open, stagePages } from './pages.ts';

stagePages();

test('stores a dismissal with its input time while the banner store hangs', async () => {
  const banners = createFaultyStore(createMemoryStore());
  const openStore = aProfile();
  const { placard, service, heard } = open({
    openStore: (name) => (name === 'placard-banners' ? banners : openStore(name)),
  });
  service.fail({ type: 'status', status: 503 }, { path: TRACK_PATH, times: Number.POSITIVE_INFINITY });
  placard.mount('home_hero', aSlot(), draw);
  await heard('tracked');
  banners.fail({ type: 'hang' }, { times: Number.POSITIVE_INFINITY });
  const dismissedAt = Date.now();
  void placard.track(placard.banner('home_hero')!, 'dismiss');
  await vi.advanceTimersByTimeAsync(100);
  // The page exits now.
  placard.stop();
  const records = await openStore(logName(service.origin, 'app')).entries<LogEvent>();
  const [dismissal] = records.flatMap(([, record]) => (record.type === 'dismiss' ? [record] : []));
  expect(dismissal).toMatchObject({ bannerId: 'bnr-1', userId: 'u-1' });
  expect(dismissal!.time - dismissedAt).toBeLessThan(100);
});

test('does not store a second dismissal of the same banner', async () => {
  const { placard, heard } = open();
  placard.mount('home_hero', aSlot(), draw);
  await heard('tracked');
  const banner = placard.banner('home_hero')!;
  const [first, second] = await Promise.all([
    placard.track(banner, 'dismiss'),
    placard.track(banner, 'dismiss'),
  ]);
  expect(first).toMatchObject({ type: 'dismiss' });
  expect(second).toBeNull();
});

test('removing the banner does not cause a second dismissal', async () => {
  const { placard, heard } = open();
  placard.mount('home_hero', aSlot(), draw);
  await heard('tracked');
  const banner = placard.banner('home_hero')!;
  const again: unknown[] = [];
  placard.subscribe((notice) => {
    if (notice.type === 'hidden') again.push(placard.track(banner, 'dismiss'));
  });
  expect(await placard.track(banner, 'dismiss')).toMatchObject({ type: 'dismiss' });
  expect(await Promise.all(again)).toEqual([null]);
});

test('a listener that changes the user on a dismissal does not hide banners of the next user', async () => {
  const service = createFakeService({
    banners: { home_hero: wire('home_hero', {}, { id: 'for-everyone' }) },
  });
  const { placard, heard } = open({ service });
  placard.mount('home_hero', aSlot(), draw);
  await heard('tracked');
  placard.subscribe((notice) => {
    if (notice.type === 'hidden' && notice.reason === 'dismissed') void placard.identify('u-2');
  });
  const event = await placard.track(placard.banner('home_hero')!, 'dismiss');
  expect(event).toMatchObject({ type: 'dismiss', userId: 'u-1' });
  await heard('synced', 2);
  expect(placard.banner('home_hero')?.id).toBe('for-everyone');
});

test.each(['stop', 'identify'] as const)(
  'hiding a past dismissal again while the host calls %s does not start a session of the previous user',
  async (verb) => {
    const banners = createFaultyStore(createMemoryStore());
    const openStore = aProfile();
    const { placard, service, heard } = open({
      openStore: (name) => (name === 'placard-banners' ? banners : openStore(name)),
    });
    service.fail({ type: 'status', status: 503 }, { path: TRACK_PATH, times: Number.POSITIVE_INFINITY });
    placard.mount('home_hero', aSlot(), draw);
    await heard('tracked');
    await placard.track(placard.banner('home_hero')!, 'dismiss');
    await placard.identify(null);
    banners.fail({ type: 'hang' }, { verbs: ['update'] });
    void placard.identify('u-1');
    await vi.advanceTimersByTimeAsync(1_000);
    if (verb === 'identify') await placard.identify(null);
    placard.stop();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(vi.getTimerCount()).toBe(0);
  },
);
