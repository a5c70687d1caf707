import { expect, test, vi } from 'vitest';
import { createFakeService } from '../../src/testing/index.ts';
import { createFakeLifecycle } from './delivery/world.ts';
import { aSlot, draw, hero, open, PATIENCE, someChannels, stagePages, usersIn } from './pages.ts';

stagePages();

test('case 40: an opt-out in another tab removes the banners of this tab when the outbox receives it', async () => {
  const openChannel = someChannels();
  const a = open({ platform: { openChannel } });
  const b = open({ platform: { openChannel }, service: a.service, openStore: a.openStore });
  const element = aSlot();
  b.placard.mount('home_hero', element, draw);
  await b.heard('shown');
  const banner = b.placard.banner('home_hero')!;
  await a.placard.disable('keep');
  await vi.waitFor(() => expect(element.textContent).toBe(''), PATIENCE);
  expect(await b.placard.track(banner, 'click')).toBeNull();
});

test.each(['u-2', null])(
  'case 38: a dismissal applies in its tab if another tab switches to another user (%s)',
  async (next) => {
    const openChannel = someChannels();
    const service = createFakeService({ banners: { home_hero: hero }, dismissalLagMs: 600_000 });
    const a = open({ platform: { openChannel }, service });
    const element = aSlot();
    a.placard.mount('home_hero', element, draw);
    await a.heard('tracked');
    await a.placard.track(a.placard.banner('home_hero')!, 'dismiss');
    const b = open({ platform: { openChannel }, service, openStore: a.openStore });
    await b.placard.identify(next);
    await vi.waitFor(async () => expect(await usersIn(a.openStore)).not.toContain('u-1'), PATIENCE);
    await a.placard.refresh();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(element.textContent).toBe('');
    expect(a.of('shown')).toHaveLength(1);
    expect(await usersIn(a.openStore)).not.toContain('u-1');
  },
);

test('case 38: removes a dismissed test send from every tab permanently, even if the service still sends it', async () => {
  const openChannel = someChannels();
  const service = createFakeService({
    banners: { home_hero: { ...hero, id: 'test-1', is_test_send: true } },
    dismissalLagMs: 600_000,
  });
  const a = open({ platform: { openChannel }, service });
  const b = open({ platform: { openChannel }, service, openStore: a.openStore });
  const [first, second] = [aSlot(), aSlot()];
  const unmount = a.placard.mount('home_hero', first, draw);
  b.placard.mount('home_hero', second, draw);
  await Promise.all([a.heard('shown'), b.heard('shown')]);
  await a.placard.track(a.placard.banner('home_hero')!, 'dismiss');
  await b.heard('hidden');
  await Promise.all([a.placard.refresh(), b.placard.refresh()]);
  unmount();
  a.placard.mount('home_hero', first, draw);
  await vi.advanceTimersByTimeAsync(2_000);
  expect([first.textContent, second.textContent]).toEqual(['', '']);
  for (const tab of [a, b]) expect(tab.of('shown')).toHaveLength(1);
});

test('case 40: a page in the back/forward cache receives an opt-out before it sends requests or stores data', async () => {
  const openChannel = someChannels();
  const page = createFakeLifecycle();
  const a = open({ platform: { openChannel, lifecycle: page.lifecycle } });
  const element = aSlot();
  a.placard.mount('home_hero', element, draw);
  await a.heard('tracked');
  await a.placard.flush();
  page.tell('hidden');
  page.tell('pagehide');
  const b = open({ platform: { openChannel }, service: a.service, openStore: a.openStore });
  b.placard.mount('home_hero', aSlot(), draw);
  await b.heard('shown');
  await b.placard.disable('purge');
  b.placard.stop();
  const before = a.service.requests.length;
  // Browsers report first that the page is visible.
  page.tell('visible');
  page.tell('restored');
  await a.heard('consent');
  await a.placard.refresh();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(element.textContent).toBe('');
  expect(a.service.requests).toHaveLength(before);
  expect(a.of('consent')).toHaveLength(1);
  expect(await a.openStore('placard-banners').entries()).toEqual([]);
});

test('keeps the records of two users in two tabs, so that a reload is not a first visit', async () => {
  const openChannel = someChannels();
  const service = createFakeService({ banners: { home_hero: hero } });
  const a = open({ platform: { openChannel }, service });
  a.placard.mount('home_hero', aSlot(), draw);
  await a.heard('tracked');
  const b = open({ platform: { openChannel }, service, openStore: a.openStore, userId: 'u-2' });
  b.placard.mount('home_hero', aSlot(), draw);
  await b.heard('synced');
  await vi.waitFor(async () => expect((await usersIn(a.openStore)).sort()).toEqual(['u-1', 'u-2']), PATIENCE);
  await a.placard.flush();
  a.placard.stop();

  const again = open({ platform: { openChannel }, service, openStore: a.openStore });
  again.placard.mount('home_hero', aSlot(), draw);
  await again.heard('shown');
  await vi.advanceTimersByTimeAsync(5_000);
  await again.placard.flush();
  const impressions = service.events.filter(({ type, userId }) => type === 'impression' && userId === 'u-1');
  expect(impressions).toHaveLength(1);
});

test('does not restore the record of a user who signed out in another tab when the next user signs in', async () => {
  const openChannel = someChannels();
  const a = open({ platform: { openChannel } });
  a.placard.mount('home_hero', aSlot(), draw);
  await a.heard('synced');
  const next = () => open({ platform: { openChannel }, service: a.service, openStore: a.openStore });
  const b = next();
  await b.placard.identify('u-2');
  await vi.waitFor(async () => expect(await usersIn(a.openStore)).toEqual(['u-2']), PATIENCE);
  b.placard.stop();
  const c = open({ platform: { openChannel }, service: a.service, openStore: a.openStore, userId: 'u-2' });
  c.placard.mount('home_hero', aSlot(), draw);
  await c.heard('synced');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await usersIn(a.openStore)).toEqual(['u-2']);
});
