import { expect, test, vi } from 'vitest';
import type { Banner, BannerBootstrap } from '../../src/client/index.ts';
import { createFakeService, buildBanner as wire } from '../../src/testing/index.ts';
import { buildBanner } from '../helpers/a-banner.ts';
import { aProfile, aSlot, draw, open, PATIENCE, stagePages } from './pages.ts';

stagePages();

const headline = (value: string): Banner['properties'] => ({ headline: { type: 'string', value } });
const served: Banner = buildBanner({
  id: 'bnr-1',
  placementId: 'home_hero',
  properties: headline('From the server'),
});

const aBootstrap = (members: Partial<BannerBootstrap> = {}): BannerBootstrap => ({
  version: 1,
  appId: 'app',
  userId: 'u-1',
  fetchedAtMs: Date.now(),
  banners: { home_hero: served, sidebar: null },
  ...members,
});

test('renders the banners of the bootstrap as soon as a slot is mounted', () => {
  const { placard } = open({ bootstrap: aBootstrap() });
  expect(placard.banner('home_hero')).toEqual(served);
  expect(placard.banner('sidebar')).toBeNull();
  expect(placard.banner('footer')).toBeUndefined();
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  expect(element.textContent).toBe('From the server');
});

test('keeps a hand-written bootstrap banner without an expiry, and does not start a timer for it', async () => {
  const { expiresAt: _, ...endless } = served;
  const { placard } = open({ bootstrap: aBootstrap({ banners: { home_hero: endless as Banner } }) });
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  const timers = vi.spyOn(globalThis, 'setTimeout');
  placard.mount('home_hero', aSlot(), draw);
  expect(timers.mock.calls.filter(([, delayMs]) => !(Number(delayMs) > 1))).toEqual([]);
  expect(element.textContent).toBe('From the server');
});

test('counts the impression of a bootstrap banner once in the browser', async () => {
  const service = createFakeService({
    banners: { home_hero: wire('home_hero', { headline: 'From the server' }, { id: 'bnr-1' }) },
  });
  const { placard, heard, of } = open({ service, bootstrap: aBootstrap() });
  placard.mount('home_hero', aSlot(), draw);
  await heard('tracked');
  await heard('synced');
  await vi.advanceTimersByTimeAsync(10_000);
  await placard.flush();
  expect(of('shown')).toHaveLength(1);
  expect(service.events.map(({ type, bannerId }) => [type, bannerId])).toEqual([['impression', 'bnr-1']]);
});

test('caches a bootstrap like a response, for pages without a bootstrap and while offline', async () => {
  const openStore = aProfile();
  const platform = { fetch: () => Promise.reject(new TypeError('offline')) };
  const first = open({ openStore, platform, bootstrap: aBootstrap() });
  first.placard.mount('home_hero', aSlot(), draw);
  await first.heard('tracked');
  first.placard.stop();
  const next = open({ openStore, platform });
  next.placard.mount('home_hero', aSlot(), draw);
  await next.heard('shown');
  expect(next.placard.banner('home_hero')?.id).toBe('bnr-1');
});

test('replaces the bootstrap of an outdated page with newer cached responses', async () => {
  const openStore = aProfile();
  const old = aBootstrap();
  await vi.advanceTimersByTimeAsync(60_000);
  const first = open({ openStore });
  first.placard.mount('home_hero', aSlot(), draw);
  await first.heard('tracked');
  first.placard.stop();
  const { placard } = open({ openStore, bootstrap: { ...old, banners: { home_hero: null } } });
  expect(placard.banner('home_hero')).toBeNull();
  await vi.waitFor(
    () => expect(placard.banner('home_hero')?.properties['headline']?.value).toBe('Summer sale'),
    PATIENCE,
  );
});

test('removes a banner that the user dismissed on this device before the server received the dismissal', async () => {
  const openStore = aProfile();
  const first = open({ openStore, bootstrap: aBootstrap() });
  first.placard.mount('home_hero', aSlot(), draw);
  await first.placard.track(served, 'dismiss');
  first.placard.stop();
  const { placard, of } = open({ openStore, bootstrap: aBootstrap() });
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await vi.waitFor(() => expect(element.textContent).toBe(''), PATIENCE);
  expect(of('hidden')).toMatchObject([{ reason: 'dismissed' }]);
});

test('a bootstrap from a server whose clock is ahead does not block responses to the browser', async () => {
  const { placard, heard } = open({ bootstrap: aBootstrap({ fetchedAtMs: Date.now() + 30_000 }) });
  placard.mount('sidebar', aSlot(), draw);
  await heard('synced');
  await placard.refresh(['home_hero']);
  expect(placard.banner('home_hero')?.properties['headline']?.value).toBe('Summer sale');
});

test.each<[string, Partial<BannerBootstrap>]>([
  ['of another user', { userId: 'u-2' }],
  ['of another app', { appId: 'other' }],
  ['of another version', { version: 2 as 1 }],
])('ignores a bootstrap %s', (_, members) => {
  expect(open({ bootstrap: aBootstrap(members) }).placard.banner('home_hero')).toBeUndefined();
});

test('reports an invalid bootstrap, but not a missing one', async () => {
  const wrong = open({ bootstrap: aBootstrap({ appId: 'other' }), debug: true });
  await wrong.heard('failed');
  expect(wrong.of('failed')).toMatchObject([
    { kind: 'config', message: expect.stringContaining('bootstrap') },
  ]);
  // Two clients of one app on one page are a separate error.
  wrong.placard.stop();
  const none = open({ bootstrap: null });
  none.placard.mount('home_hero', aSlot(), draw);
  await none.heard('shown');
  expect(none.of('failed')).toEqual([]);
});

test('does not use the bootstrap without consent and its user', async () => {
  const { placard } = open({ bootstrap: aBootstrap(), consent: 'disabled', userId: null });
  expect(placard.banner('home_hero')).toBeUndefined();
  void placard.enable();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(placard.banner('home_hero')).toBeUndefined();
  void placard.identify('u-1');
  await vi.advanceTimersByTimeAsync(0);
  expect(placard.banner('home_hero')).toEqual(served);
});

test.each([[{}], [{ version: 1, appId: 'app', userId: 'u-1' }], ['text'], [7]])(
  'does not throw for an invalid bootstrap: %j',
  (bootstrap) => {
    const { placard } = open({ bootstrap: bootstrap as never });
    expect(placard.banner('home_hero')).toBeUndefined();
  },
);
