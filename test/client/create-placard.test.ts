import { expect, test, vi } from 'vitest';
import type { Banner, Slot, Store, StoreKey } from '../../src/client/index.ts';
import { createFakeService, buildBanner as wire } from '../../src/testing/index.ts';
import { createFakeLifecycle } from './delivery/world.ts';
import { aProfile, aSlot, draw, hero, open, PATIENCE, stagePages, syncs } from './pages.ts';

stagePages();

test('shows a synced banner, measures one second in view, and delivers the impression', async () => {
  const { placard, service, of, heard } = open();
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('shown');
  expect(element.textContent).toBe('Summer sale');
  expect(of('shown')[0]).toMatchObject({ from: 'sync', banner: { id: 'bnr-1', placementId: 'home_hero' } });
  await heard('tracked');
  await placard.flush();
  expect(service.events.map(({ bannerId, type }) => [bannerId, type])).toEqual([['bnr-1', 'impression']]);
});

test('works in a webview without animation frames', async () => {
  vi.stubGlobal('requestAnimationFrame', undefined);
  const { placard, of, heard } = open();
  placard.mount('home_hero', aSlot(), draw);
  await heard('tracked');
  expect(of('failed')).toEqual([]);
  vi.unstubAllGlobals();
});

test('emits a notice if the host’s platform throws, and does not throw into the page', async () => {
  const after = () => {
    throw new Error('no timers');
  };
  const { heard, of } = open({ platform: { after } });
  await heard('failed');
  expect(of('failed')[0]).toMatchObject({ kind: 'internal', message: 'Error: no timers' });
});

test('requests slots that are mounted together in one sync', async () => {
  const { placard, service, heard } = open();
  placard.mount('home_hero', aSlot(), draw);
  placard.mount('sidebar', aSlot(), draw);
  await heard('synced');
  placard.mount('home_hero', aSlot(), draw);
  placard.mount('strip', aSlot(), draw);
  await heard('synced', 2);
  expect(syncs(service)).toEqual([['home_hero', 'sidebar'], ['strip']]);
});

test.each([null, 'u-1'])(
  'syncs once if a user is identified right after the client is created (%s before)',
  async (before) => {
    const { placard, service, heard } = open({ userId: before });
    placard.mount('home_hero', aSlot(), draw);
    await placard.identify('u-2');
    await heard('shown');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(syncs(service)).toEqual([['home_hero']]);
  },
);

test('shows the cached banner on the next page before the network responds, and keeps it if the service fails', async () => {
  const first = open();
  first.placard.mount('home_hero', aSlot(), draw);
  await first.heard('shown');
  first.placard.stop();
  first.service.fail({ type: 'status', status: 404 });
  const second = open({ service: first.service, openStore: first.openStore });
  const element = aSlot();
  second.placard.mount('home_hero', element, draw);
  await second.heard('shown');
  expect(second.of('shown')[0]?.from).toBe('cache');
  expect(element.textContent).toBe('Summer sale');
  await second.heard('failed');
  expect(element.textContent).toBe('Summer sale');
});

test('case 61: one placement in two slots, or mounted twice, counts one impression', async () => {
  const { placard, service, heard } = open();
  const element = aSlot();
  placard.mount('home_hero', element, draw)();
  placard.mount('home_hero', element, draw);
  placard.mount('home_hero', aSlot(), draw);
  await heard('shown', 2);
  await heard('tracked');
  await vi.advanceTimersByTimeAsync(5_000);
  await placard.flush();
  expect(service.events).toHaveLength(1);
});

test('case 39: a reload in the same session does not count a second impression', async () => {
  const first = open();
  first.placard.mount('home_hero', aSlot(), draw);
  await first.heard('tracked');
  first.placard.stop();
  const second = open({ service: first.service, openStore: first.openStore });
  second.placard.mount('home_hero', aSlot(), draw);
  await second.heard('synced');
  await vi.advanceTimersByTimeAsync(5_000);
  await second.placard.flush();
  expect(first.service.events).toHaveLength(1);
});

test('contract 7.4: a banner that stays in view counts again in the next session of its page', async () => {
  const { lifecycle, tell } = createFakeLifecycle();
  let awayMs = 0;
  const { placard, service, of, heard } = open({
    platform: { lifecycle, now: () => Date.now() + awayMs },
  });
  placard.mount('home_hero', aSlot(), draw);
  await heard('tracked');
  for (const away of [5 * 60_000, 60 * 60_000]) {
    tell('hidden');
    await vi.advanceTimersByTimeAsync(100);
    awayMs += away;
    tell('visible');
    await vi.advanceTimersByTimeAsync(5_000);
  }
  await heard('tracked', 2);
  await vi.advanceTimersByTimeAsync(5_000);
  await placard.flush();
  expect(service.events.map(({ type }) => type)).toEqual(['impression', 'impression']);
  expect(of('shown')).toHaveLength(1);
});

test('a click is durable when its promise resolves, and every click counts', async () => {
  const { placard, service, of, heard } = open();
  let slot: Slot | undefined;
  placard.mount('home_hero', aSlot(), (_, given) => {
    slot = given;
  });
  await heard('shown');
  await slot?.click();
  await slot?.click();
  expect(of('tracked').filter(({ event }) => event.type === 'click')).toHaveLength(2);
  await placard.flush();
  expect(service.events.filter(({ type }) => type === 'click')).toHaveLength(2);
});

test('keeps a click that is tracked before the deferred chunk loads', async () => {
  const first = open();
  first.placard.mount('home_hero', aSlot(), draw);
  await first.heard('shown');
  first.placard.stop();
  const second = open({ service: first.service, openStore: first.openStore });
  const clicked = Promise.withResolvers<unknown>();
  second.placard.mount('home_hero', aSlot(), (banner) => {
    clicked.resolve(second.placard.track(banner, 'click'));
  });
  expect(await clicked.promise).toMatchObject({ type: 'click', bannerId: 'bnr-1', userId: 'u-1' });
});

test('contract 7.5: a dismissal hides the banner at once, is sent once, and survives reloads and syncs', async () => {
  const { placard, service, openStore, of, heard } = open({
    service: createFakeService({ banners: { home_hero: hero }, dismissalLagMs: 600_000 }),
  });
  const element = aSlot();
  let banner: Banner | undefined;
  placard.mount('home_hero', element, (shown, slot) => {
    banner = shown;
    return draw(shown, slot);
  });
  await heard('shown');
  const dismissed = placard.track(banner!, 'dismiss');
  expect(element.textContent).toBe('');
  expect(await dismissed).toMatchObject({ type: 'dismiss' });
  expect(await placard.track(banner!, 'dismiss')).toBeNull();
  await placard.flush();
  await heard('delivered');
  expect(service.events.filter(({ type }) => type === 'dismiss')).toHaveLength(1);
  await placard.refresh();
  expect(element.textContent).toBe('');
  expect(placard.banner('home_hero')).toBeNull();
  expect(of('hidden').map(({ reason }) => reason)).toEqual(['dismissed']);
  placard.stop();
  const reloaded = open({ service, openStore });
  const again = aSlot();
  reloaded.placard.mount('home_hero', again, draw);
  await reloaded.heard('synced');
  expect(again.textContent).toBe('');
});

test('contract 7.3: a control banner is not rendered, counts one impression, and ignores clicks and dismissals', async () => {
  const { placard, service, heard } = open({
    service: createFakeService({ banners: { home_hero: { ...hero, is_control: true, properties: null } } }),
  });
  const hook = vi.fn();
  placard.mount('home_hero', aSlot(), hook);
  await heard('tracked');
  const control = placard.banner('home_hero')!;
  expect(control.isControl).toBe(true);
  expect(await placard.track(control, 'click')).toBeNull();
  expect(await placard.track(control, 'dismiss')).toBeNull();
  await placard.flush();
  expect(hook).not.toHaveBeenCalled();
  expect(service.events.map(({ type }) => type)).toEqual(['impression']);
});

test('contract 7.3: shows and counts a test send, and removes it on a reload', async () => {
  const service = createFakeService({
    banners: { home_hero: { ...hero, id: 'test-1', is_test_send: true } },
  });
  const first = open({ service });
  const element = aSlot();
  first.placard.mount('home_hero', element, draw);
  await first.heard('shown');
  await first.heard('tracked');
  expect(JSON.stringify(await first.openStore('placard-banners').entries())).not.toContain('"properties"');
  first.placard.stop();
  service.setBanner('home_hero', null);
  const second = open({ service, openStore: first.openStore });
  second.placard.mount('home_hero', aSlot(), draw);
  await second.heard('synced');
  expect(second.of('shown')).toEqual([]);
});

test.each([
  ['the user’s own banner', 'kept', false, [120]],
  ['a test send', 'discarded', true, []],
])(
  'reserves the height of %s on the next visit, unless it is a test send (%s)',
  async (_, _is, isTestSend, heights) => {
    localStorage.clear();
    const { placard, heard } = open({
      service: createFakeService({ banners: { home_hero: { ...hero, is_test_send: isTestSend } } }),
    });
    const element = aSlot();
    Object.defineProperty(element, 'offsetHeight', { value: 120 });
    placard.mount('home_hero', element, draw);
    await heard('tracked');
    const stored: Record<string, number> = JSON.parse(localStorage.getItem('placard-heights:app') ?? '{}');
    expect(Object.values(stored)).toEqual(heights);
  },
);

test('case 54: removes a banner that expires while displayed, and stops counting it', async () => {
  const expires = Math.ceil(Date.now() / 1000) + 60;
  const { placard, of, heard, service } = open({
    service: createFakeService({ banners: { home_hero: { ...hero, expires_at: expires } } }),
  });
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('shown');
  const banner = placard.banner('home_hero')!;
  await heard('tracked');
  await vi.advanceTimersByTimeAsync(62_000);
  expect(element.textContent).toBe('');
  expect(of('hidden')[0]?.reason).toBe('expired');
  expect(placard.banner('home_hero')).toBeNull();
  expect(await placard.track(banner, 'impression')).toBeNull();
  expect(service.events.length).toBeLessThanOrEqual(1);
});

test.each(['before', 'after'])(
  'counts an impression once, at the next view at the latest, if its page dies %s it is stored',
  async (moment) => {
    const profile = aProfile();
    const isEvent = ([key]: [StoreKey, unknown]) => Array.isArray(key) && key[0] === 'event';
    /** A page that dies while it stores an event: the write never settles. */
    const dying = (name: string): Store => {
      const store = profile(name);
      return {
        ...store,
        async update(keys, change) {
          let isDead = false;
          await store.update<never>(keys, (values) => {
            const writes = change(values);
            isDead = writes.some(isEvent);
            return isDead && moment === 'before' ? [] : writes;
          });
          if (isDead) await new Promise(() => undefined);
        },
      };
    };
    const { placard, heard, service } = open({ openStore: dying });
    placard.mount('home_hero', aSlot(), draw);
    await heard('synced');
    await vi.advanceTimersByTimeAsync(2_000);
    placard.stop();
    for (let view = 1; view <= 2; view += 1) {
      document.body.replaceChildren();
      const next = open({ openStore: profile, service });
      next.placard.mount('home_hero', aSlot(), draw);
      await next.heard('shown');
      await vi.advanceTimersByTimeAsync(2_000);
      await vi.waitFor(async () => {
        await next.placard.flush();
        expect(service.events.filter(({ type }) => type === 'impression')).toHaveLength(1);
      }, PATIENCE);
      next.placard.stop();
    }
    expect(service.events[0]?.copies).toBe(1);
  },
);

test('sends one sync to replace a banner that expires while displayed', async () => {
  const expires = Math.ceil(Date.now() / 1000) + 60;
  const service = createFakeService({ banners: { home_hero: { ...hero, expires_at: expires } } });
  const { placard, of, heard } = open({ service });
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('shown');
  service.setBanner('home_hero', wire('home_hero', { headline: 'Winter sale' }, { id: 'bnr-2' }));
  await vi.advanceTimersByTimeAsync(75_000);
  expect(of('hidden')[0]?.reason).toBe('expired');
  await vi.waitFor(() => expect(element.textContent).toBe('Winter sale'), PATIENCE);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(service.requests.filter(({ path }) => path.endsWith('/sync'))).toHaveLength(2);
});

test('emits changes that no slot shows: sync, dismissal and sign-out', async () => {
  const { placard } = open();
  const seen: (string | null | undefined)[] = [];
  placard.subscribe(({ type }) => {
    if (type === 'changed') seen.push(placard.banner('home_hero')?.id ?? null);
  });
  await placard.refresh(['home_hero']);
  const banner = placard.banner('home_hero')!;
  expect(seen.at(-1)).toBe(banner.id);
  await placard.track(banner, 'dismiss');
  expect(seen.at(-1)).toBeNull();
  seen.length = 0;
  await placard.identify(null);
  expect(seen.at(-1)).toBeNull();
});

test('case 59: reports a property that does not match its declared type and renders the banner', async () => {
  const { placard, of, heard } = open({
    service: createFakeService({
      banners: {
        home_hero: { ...hero, properties: { headline: { type: 'number', value: 'seven' } } },
      } as never,
    }),
  });
  placard.mount('home_hero', aSlot(), draw);
  await heard('shown');
  expect(of('failed')).toMatchObject([
    { kind: 'invalid-banner', message: expect.stringContaining('"headline"') },
  ]);
});

test('case 68: reports a hook that throws and does not count an impression', async () => {
  const { placard, service, of, heard } = open();
  placard.mount('home_hero', aSlot(), () => {
    throw new Error('no template');
  });
  await heard('failed');
  await vi.advanceTimersByTimeAsync(5_000);
  await placard.flush();
  expect(of('failed')[0]?.kind).toBe('hook');
  expect(service.events).toEqual([]);
});

test('reports a slot without an element or hook, and mounts the other slots', async () => {
  const { placard, of, heard } = open();
  placard.mount('home_hero', document.querySelector('.missing') as never, draw)();
  placard.mount('home_hero', aSlot(), undefined as never)();
  expect(of('failed').map(({ kind }) => kind)).toEqual(['config', 'config']);
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('shown');
  expect(element.textContent).toBe('Summer sale');
});

test('tracking an invalid banner or event does not count it and does not throw', async () => {
  const { placard, heard } = open();
  placard.mount('home_hero', aSlot(), draw);
  await heard('shown');
  for (const type of ['impression', 'click', 'dismiss'] as const) {
    expect(await placard.track(null as never, type)).toBeNull();
    expect(await placard.track(undefined as never, type)).toBeNull();
  }
  expect(await placard.track(placard.banner('home_hero')!, 'view' as never)).toBeNull();
});

test('renders a slot again if it was removed from the page and reinserted', async () => {
  const { placard, of, heard } = open();
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('shown');
  // As in Vue's KeepAlive, a router that reuses routes, or jQuery's detach().
  element.remove();
  await placard.refresh();
  expect(element.textContent).toBe('');
  document.body.append(element);
  await placard.refresh();
  await heard('shown', 2);
  expect(element.textContent).toBe('Summer sale');
  expect(of('failed')).toEqual([]);
});

test('restores only the latest of the slots that were removed without an unmount', async () => {
  const { placard, heard } = open();
  const elements = Array.from({ length: 25 }, aSlot);
  for (const element of elements) placard.mount('home_hero', element, draw);
  await heard('shown', 25);
  for (const element of elements) element.remove();
  await placard.refresh();
  document.body.append(...elements);
  await placard.refresh();
  expect(elements.map(({ textContent }) => textContent).filter(Boolean)).toHaveLength(20);
});

test('stop() restores the page and disables every method', async () => {
  const { placard, service, notices, heard } = open();
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('tracked');
  const banner = placard.banner('home_hero')!;
  placard.stop();
  const [requests, before] = [service.requests.length, notices.length];
  expect(element.textContent).toBe('');
  placard.mount('home_hero', element, draw)();
  expect(await placard.track(banner, 'click')).toBeNull();
  await placard.identify('u-2');
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(element.textContent).toBe('');
  expect(service.requests).toHaveLength(requests);
  expect(notices).toHaveLength(before);
});

test.each([
  ['element', null, () => undefined],
  ['hook', document.createElement('div'), undefined],
])(
  'a mount without its %s emits a failure notice that states which argument is missing',
  (missing, element, hook) => {
    const { placard, of } = open();
    placard.mount('home_hero', element as never, hook as never)();
    expect(of('failed')).toMatchObject([{ kind: 'config', message: `No ${missing} for "home_hero"` }]);
  },
);

test('warns about a second client of the same app, unless the first one has stopped', async () => {
  const consoleError = vi.spyOn(console, 'error').mockReturnValue(undefined);
  const told = ({ of }: ReturnType<typeof open>) => of('failed').map(({ message }) => message);
  const first = open();
  await first.placard.refresh([]);
  const second = open();
  await second.placard.refresh([]);
  const other = open({ appId: 'widget' });
  await other.placard.refresh([]);
  await second.heard('failed');
  const message = expect.stringMatching(/^Another client of app "app" is running/);
  expect([told(first), told(second), told(other)]).toEqual([[], [message], []]);
  expect(consoleError).toHaveBeenCalledTimes(1);
  first.placard.stop();
  second.placard.stop();
  const next = open();
  await next.placard.refresh([]);
  expect(told(next)).toEqual([]);
  consoleError.mockRestore();
});
