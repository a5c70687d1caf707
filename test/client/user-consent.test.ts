import { expect, test, vi } from 'vitest';
import type { Store } from '../../src/client/index.ts';
import { logName } from '../../src/client/options/options.ts';
import { createFakeService, createFaultyStore, buildBanner as wire } from '../../src/testing/index.ts';
import { createFakeLifecycle } from './delivery/world.ts';
import { aProfile, aSlot, draw, open, PATIENCE, someChannels, stagePages } from './pages.ts';

stagePages();

test('reports an unknown consent value and stays disabled', async () => {
  const { placard, service, openStore, of, heard } = open({ consent: 'off' as never });
  placard.mount('home_hero', aSlot(), draw);
  await heard('failed');
  expect(of('failed')).toEqual([
    { type: 'failed', kind: 'config', message: 'Option "consent" must be enabled or disabled or pending' },
  ]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(service.requests).toEqual([]);
  expect(await openStore('placard-banners').entries()).toEqual([]);
  await placard.enable();
  await heard('shown');
});

test('does not store, sync or track anything without consent, and starts everything with it', async () => {
  const { placard, service, openStore, heard } = open({ consent: 'disabled' });
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await placard.track(wire('home_hero') as never, 'click')).toBeNull();
  expect(service.requests).toEqual([]);
  expect(await openStore('placard-banners').entries()).toEqual([]);
  await placard.enable();
  await heard('shown');
  expect(element.textContent).toBe('Summer sale');
});

test('case 69: an opt-out removes the banners, clears the cache, and stops everything', async () => {
  const { placard, service, openStore, heard } = open();
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('tracked');
  const banner = placard.banner('home_hero')!;
  await placard.disable('purge');
  expect(element.textContent).toBe('');
  expect(await placard.track(banner, 'click')).toBeNull();
  const before = service.requests.length;
  await placard.refresh();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(service.requests).toHaveLength(before);
  expect(await openStore('placard-banners').entries()).toEqual([]);
  expect(localStorage).toHaveLength(0);
  const log = await openStore(logName(service.origin, 'app')).entries();
  expect(log.map(([key]) => [key].flat()[0])).toEqual(['control']);
});

test.each(['disable', 'wipe'] as const)(
  'case 40: %s reaches the outbox at once and settles, even if the banner store hangs',
  async (verb) => {
    const openStore = aProfile();
    const banners = createFaultyStore(openStore('placard-banners'));
    const { placard, service, of, heard } = open({
      openStore: (name) => (name === 'placard-banners' ? banners : openStore(name)),
    });
    placard.mount('home_hero', aSlot(), draw);
    await heard('tracked');
    await placard.flush();
    banners.fail({ type: 'hang' }, { times: Number.POSITIVE_INFINITY });
    await placard.track(placard.banner('home_hero')!, 'click');
    const before = service.requests.length;
    const done = verb === 'wipe' ? placard.wipe() : placard.disable('purge');
    await vi.advanceTimersByTimeAsync(30_000);
    await done;
    expect(service.requests).toHaveLength(before);
    expect(await placard.diagnostics()).toMatchObject({ pending: 0 });
    expect(of('failed').some(({ message }) => message === 'Banner store failed')).toBe(true);
  },
);

test.each(['disable', 'wipe', 'stop', 'identify'] as const)(
  'case 40: after %s, does not retry a failed sync',
  async (verb) => {
    const service = createFakeService();
    service.fail({ type: 'status', status: 503 }, { times: Number.POSITIVE_INFINITY });
    // At send time, because a request arrives at the service a little later.
    let left = 0;
    const fetch: typeof globalThis.fetch = (input, init) => {
      if (!new Request(input, init).signal.aborted) left += 1;
      return service.fetch(input, init);
    };
    const { placard } = open({ service, platform: { fetch } });
    placard.mount('home_hero', aSlot(), draw);
    await vi.waitFor(() => expect(left).toBeGreaterThan(0), PATIENCE);
    await {
      disable: placard.disable,
      wipe: placard.wipe,
      stop: placard.stop,
      identify: () => placard.identify(null),
    }[verb]();
    const before = left;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(left).toBe(before);
  },
);

test('case 69: an opt-out of an earlier visit applies until the user revokes it', async () => {
  const first = open();
  first.placard.mount('home_hero', aSlot(), draw);
  await first.heard('shown');
  await first.placard.disable('keep');
  first.placard.stop();
  first.service.clear();
  const second = open({ service: first.service, openStore: first.openStore });
  const element = aSlot();
  second.placard.mount('home_hero', element, draw);
  await second.heard('consent');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(second.of('consent').map(({ state }) => state)).toEqual(['disabled']);
  expect(first.service.requests).toEqual([]);
  await second.placard.enable();
  await second.heard('shown');
  expect(element.textContent).toBe('Summer sale');
});

test('an opt-out on a page without consent removes the data of an earlier visit', async () => {
  const first = open();
  first.placard.mount('home_hero', aSlot(), draw);
  await first.heard('tracked');
  first.placard.stop();
  const { placard, openStore } = open({
    service: first.service,
    openStore: first.openStore,
    consent: 'disabled',
  });
  await placard.disable('purge');
  expect(await openStore('placard-banners').entries()).toEqual([]);
  expect(localStorage).toHaveLength(0);
  expect(await placard.diagnostics()).toMatchObject({ pending: 0, inDoubt: 0 });
});

test('case 69: applies an opt-out of an earlier visit as soon as the outbox opens, even if late', async () => {
  const { service, openStore, placard, heard } = open();
  placard.mount('home_hero', aSlot(), draw);
  await heard('synced');
  await placard.disable('keep');
  placard.stop();
  const name = logName(service.origin, 'app');
  const outbox = createFaultyStore(openStore(name));
  outbox.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
  const page = createFakeLifecycle();
  const second = open({
    service,
    openStore: (store) => (store === name ? outbox : openStore(store)),
    platform: { lifecycle: page.lifecycle },
  });
  const element = aSlot();
  second.placard.mount('home_hero', element, draw);
  await second.heard('shown');
  outbox.recover();
  page.tell('visible');
  await second.heard('consent');
  const before = service.requests.length;
  expect(element.textContent).toBe('');
  await second.placard.refresh();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(service.requests).toHaveLength(before);
  expect(second.of('consent').map(({ state }) => state)).toEqual(['disabled']);
});

test('contract 7.8: a wipe removes everything, and the client does not write afterwards', async () => {
  const { placard, openStore, heard } = open();
  placard.mount('home_hero', aSlot(), draw);
  await heard('tracked');
  const banner = placard.banner('home_hero')!;
  await placard.wipe();
  expect(await placard.track(banner, 'click')).toBeNull();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(await openStore('placard-banners').entries()).toEqual([]);
  expect(localStorage).toHaveLength(0);
});

test('contract 7.8: a wipe without consent removes the data of an earlier visit, even after stop', async () => {
  for (const isStopped of [false, true]) {
    const first = open();
    first.placard.mount('home_hero', aSlot(), draw);
    await first.heard('tracked');
    first.placard.stop();
    const outbox = first.openStore(logName(first.service.origin, 'app'));
    expect(await outbox.entries()).not.toEqual([]);
    const second = open({ service: first.service, openStore: first.openStore, consent: 'disabled' });
    if (isStopped) second.placard.stop();
    await second.placard.wipe();
    expect(await first.openStore('placard-banners').entries()).toEqual([]);
    expect(await outbox.entries()).toEqual([]);
    expect(localStorage).toHaveLength(0);
  }
});

test('contract 7.8: enable() restarts a page that a wipe in another tab emptied', async () => {
  const openChannel = someChannels();
  const a = open({ platform: { openChannel } });
  const b = open({ platform: { openChannel }, service: a.service, openStore: a.openStore });
  const element = aSlot();
  b.placard.mount('home_hero', element, draw);
  await b.heard('tracked');
  await a.placard.wipe();
  await vi.waitFor(() => expect(element.textContent).toBe(''), PATIENCE);
  expect(await b.openStore('placard-banners').entries()).toEqual([]);
  await b.placard.enable();
  await b.heard('shown', 2);
  await b.heard('synced', 2);
  expect(JSON.stringify((await b.openStore('placard-banners').entries()).map(([key]) => key))).toContain(
    'u-1',
  );
  expect(await b.placard.track(b.placard.banner('home_hero')!, 'click')).toMatchObject({ type: 'click' });
});

test('continues to sync and count if site data is cleared, and treats the next page as a first visit', async () => {
  const { placard, openStore, service, of, heard } = open();
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('tracked');
  await placard.flush();
  for (const name of ['placard-banners', logName(service.origin, 'app')]) await openStore(name).clear();
  await placard.refresh();
  await heard('synced', 2);
  expect(element.textContent).toBe('Summer sale');
  expect(await placard.track(placard.banner('home_hero')!, 'click')).toMatchObject({ type: 'click' });
  await placard.flush();
  expect(service.events.map(({ type, copies }) => [type, copies])).toEqual([
    ['impression', 1],
    ['click', 1],
  ]);
  expect(of('consent')).toEqual([]);
  placard.stop();
  const next = open({ service, openStore });
  next.placard.mount('home_hero', aSlot(), draw);
  await next.heard('shown');
  expect(next.of('shown')).toMatchObject([{ from: 'sync' }]);
});

test('keeps a page stopped after its own wipe, even if the host calls enable() or refresh()', async () => {
  const { placard, openStore, service, heard } = open();
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('tracked');
  await placard.wipe();
  const before = service.requests.length;
  await placard.enable();
  await placard.refresh();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(element.textContent).toBe('');
  expect(service.requests).toHaveLength(before);
  expect(await openStore('placard-banners').entries()).toEqual([]);
});

test('never syncs a profile that has opted out, regardless of when its page mounts a slot', async () => {
  const profile = aProfile();
  const first = open({ openStore: profile });
  first.placard.mount('home_hero', aSlot(), draw);
  await first.heard('shown');
  await first.placard.disable('purge');
  first.placard.stop();
  first.service.clear();
  /** A disk that takes 20 ms to open. */
  const slow = (name: string): Store => {
    const store = profile(name);
    const opened = new Promise((resolve) => setTimeout(resolve, 20));
    const late = <Verb extends (...parameters: never[]) => Promise<unknown>>(verb: Verb) =>
      (async (...parameters: Parameters<Verb>) => {
        await opened;
        return verb(...parameters);
      }) as Verb;
    const { entries, get, setMany, deleteMany, update, clear } = store;
    return {
      entries: late(entries as never),
      get: late(get as never),
      setMany: late(setMany),
      deleteMany: late(deleteMany),
      update: late(update as never),
      clear: late(clear),
    };
  };
  for (let ms = 0; ms <= 120; ms += 10) {
    const { placard, service } = open({ openStore: slow, service: first.service });
    placard.mount('home_hero', aSlot(), draw);
    if (ms === 0) void placard.refresh();
    await vi.advanceTimersByTimeAsync(ms);
    placard.mount('late', aSlot(), draw);
    await vi.advanceTimersByTimeAsync(400);
    expect(service.requests).toEqual([]);
    placard.stop();
  }
});

test.each(['opt-out', 'wipe'])('removes the name of the tab after an %s', async (decision) => {
  const { placard, heard } = open({ banners: { impressionScope: 'tab' } });
  placard.mount('home_hero', aSlot(), draw);
  await heard('tracked');
  expect(sessionStorage).toHaveLength(1);
  await (decision === 'wipe' ? placard.wipe() : placard.disable('keep'));
  expect(sessionStorage).toHaveLength(0);
});
