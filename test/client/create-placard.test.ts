import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { emptyRecord, recordKey, type UserRecord } from '../../src/client/banners/user-record.ts';
import { outboxName } from '../../src/client/delivery/index.ts';
import {
  type Banner,
  createPlacard,
  type Notice,
  type Placard,
  type PlacardOptions,
  type PlacementHook,
  type Platform,
  type Slot,
  type Store,
  type StoreKey,
} from '../../src/client/index.ts';
import { createMemoryStore } from '../../src/client/platform/memory-store.ts';
import { TRACK_PATH } from '../../src/protocol/index.ts';
import {
  createFakeService,
  createFaultyStore,
  type FakeService,
  aBanner as wire,
} from '../../src/testing/index.ts';
import { createFakeLifecycle } from './delivery/world.ts';

/** An IntersectionObserver that sees every element whole, at once. */
class SeesEverything {
  readonly report: IntersectionObserverCallback;
  constructor(report: IntersectionObserverCallback) {
    this.report = report;
  }
  observe(element: Element): void {
    const rect = { left: 0, top: 0, width: 300, height: 250 };
    const entry = {
      isIntersecting: true,
      intersectionRatio: 1,
      boundingClientRect: rect,
      intersectionRect: rect,
    };
    queueMicrotask(() =>
      this.report(
        [{ ...entry, target: element } as unknown as IntersectionObserverEntry],
        this as unknown as IntersectionObserver,
      ),
    );
  }
  disconnect(): void {
    // It tells each element once, so there is nothing to stop.
  }
}

/** Each look lets 50 ms of the fake time pass; a busy machine may need many of them. */
const PATIENCE = { timeout: 15_000, interval: 50 };

const running: Placard[] = [];

beforeEach(() => {
  vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 5 });
  document.body.replaceChildren();
  localStorage.clear();
});
afterEach(() => {
  for (const placard of running.splice(0)) placard.stop();
  vi.useRealTimers();
});

/** What one browser profile keeps: stores by name. */
const aProfile = () => {
  const stores = new Map<string, Store>();
  return (name: string): Store => {
    if (!stores.has(name)) stores.set(name, createMemoryStore());
    return stores.get(name)!;
  };
};

const hero = wire('home_hero', { headline: 'Summer sale' }, { id: 'bnr-1' });

const open = ({
  service = createFakeService({ banners: { home_hero: hero } }),
  openStore = aProfile(),
  platform = {} as Partial<Platform>,
  ...options
}: Partial<Omit<PlacardOptions, 'platform'>> & {
  service?: FakeService;
  openStore?: (name: string) => Store;
  platform?: Partial<Platform>;
} = {}) => {
  const notices: Notice[] = [];
  const placard = createPlacard({
    endpoint: service.origin,
    apiKey: 'client-key',
    appId: 'app',
    appVersion: '1',
    userId: 'u-1',
    ...options,
    platform: {
      fetch: service.fetch,
      openStore,
      IntersectionObserver: SeesEverything as unknown as typeof IntersectionObserver,
      ...platform,
    },
  } as PlacardOptions);
  running.push(placard);
  placard.subscribe((notice) => notices.push(notice));
  const of = <T extends Notice['type']>(type: T) =>
    notices.filter((notice): notice is Extract<Notice, { type: T }> => notice.type === type);
  const heard = (type: Notice['type'], times = 1) =>
    vi.waitFor(() => expect(of(type).length).toBeGreaterThanOrEqual(times), PATIENCE);
  return { placard, service, openStore, notices, of, heard };
};

const aSlot = () => {
  const element = document.createElement('div');
  document.body.append(element);
  return element;
};

const draw: PlacementHook = (banner, { element }) => {
  element.textContent = String(banner.properties.headline?.value ?? banner.id);
  return () => element.replaceChildren();
};

const syncs = (service: FakeService) =>
  service.requests
    .filter(({ path }) => path.endsWith('/sync'))
    .map(({ body }) => (body as { placements: string[] }).placements);

test('a banner goes from the service to the page, is seen for a second, and its impression arrives', async () => {
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

test('slots that are mounted together are synced together', async () => {
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
  'a user who is told a line after the client was created (%s before) is synced once',
  async (before) => {
    const { placard, service, heard } = open({ userId: before });
    placard.mount('home_hero', aSlot(), draw);
    await placard.identify('u-2');
    await heard('shown');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(syncs(service)).toEqual([['home_hero']]);
  },
);

test('the next page shows the cached banner before the network, and keeps it when the service is no help', async () => {
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

test('case 61: the same placement in two slots, or mounted twice, is one impression', async () => {
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

test('case 39: a reload in the same session counts no second impression', async () => {
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

test('contract 7.4: a banner that stays in view is counted again in the next session of its page', async () => {
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

test('a click before the rest of the client is loaded is kept', async () => {
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

test('contract 7.5: a dismissal hides at once, is sent once, and holds over a reload and further syncs', async () => {
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
  expect(of('emptied').map(({ reason }) => reason)).toEqual(['dismissed']);
  placard.stop();
  const reloaded = open({ service, openStore });
  const again = aSlot();
  reloaded.placard.mount('home_hero', again, draw);
  await reloaded.heard('synced');
  expect(again.textContent).toBe('');
});

test('contract 7.3: a control banner draws nothing, counts one impression, and takes no click or dismissal', async () => {
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

test('contract 7.3: a test send is shown and counted, and gone after a reload', async () => {
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

test('case 54: a banner that expires while displayed leaves, and is not counted afterwards', async () => {
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
  expect(of('emptied')[0]?.reason).toBe('expired');
  expect(placard.banner('home_hero')).toBeNull();
  expect(await placard.track(banner, 'impression')).toBeNull();
  expect(service.events.length).toBeLessThanOrEqual(1);
});

test.each(['before', 'after'])(
  'an impression whose page dies %s it is stored counts once, at the next view at the latest',
  async (moment) => {
    const profile = aProfile();
    const isEvent = ([key]: [StoreKey, unknown]) => Array.isArray(key) && key[0] === 'event';
    /** A page that dies when it stores an event: nobody hears of the write again. */
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

test('a banner that expires while displayed is followed by what one sync finds', async () => {
  const expires = Math.ceil(Date.now() / 1000) + 60;
  const service = createFakeService({ banners: { home_hero: { ...hero, expires_at: expires } } });
  const { placard, of, heard } = open({ service });
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('shown');
  service.setBanner('home_hero', wire('home_hero', { headline: 'Winter sale' }, { id: 'bnr-2' }));
  await vi.advanceTimersByTimeAsync(75_000);
  expect(of('emptied')[0]?.reason).toBe('expired');
  await vi.waitFor(() => expect(element.textContent).toBe('Winter sale'), PATIENCE);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(service.requests.filter(({ path }) => path.endsWith('/sync'))).toHaveLength(2);
});

test('case 43: a slot that is mounted after the banners gave way to events gets its banner again', async () => {
  const profile = aProfile();
  const service = createFakeService({ banners: { home_hero: hero } });
  const outbox = createFaultyStore(profile(outboxName(service.origin, 'app')));
  const openStore = (name: string) => (name === 'placard-banners' ? profile(name) : outbox);
  const { placard, heard } = open({ service, openStore });
  const unmount = placard.mount('home_hero', aSlot(), draw);
  await heard('tracked');
  outbox.fail({ type: 'reject', error: 'QuotaExceededError' }, { verbs: ['update'] });
  expect(await placard.track(placard.banner('home_hero')!, 'click')).toMatchObject({ type: 'click' });
  unmount();
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await vi.waitFor(() => expect(element.textContent).toBe('Summer sale'), PATIENCE);
});

test('case 43: a disk that stays full costs syncs within the budget, and not one for each event', async () => {
  const profile = aProfile();
  const service = createFakeService({ banners: { home_hero: hero } });
  const outbox = createFaultyStore(profile(outboxName(service.origin, 'app')));
  const openStore = (name: string) => (name === 'placard-banners' ? profile(name) : outbox);
  const { placard, heard } = open({ service, openStore });
  placard.mount('home_hero', aSlot(), draw);
  await heard('tracked');
  const banner = placard.banner('home_hero')!;
  for (let i = 0; i < 12; i++) {
    outbox.fail({ type: 'reject', error: 'QuotaExceededError' }, { verbs: ['update'] });
    await placard.track(banner, 'click');
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(syncs(service).length).toBeLessThanOrEqual(6);
});

test('cases 51 and 52: the next user sees nothing of the former one, whose events stay theirs', async () => {
  const service = createFakeService({
    banners: {
      home_hero: ({ external_user_id }) =>
        wire('home_hero', { headline: `For ${external_user_id}` }, { id: `for-${external_user_id}` }),
    },
  });
  const { placard, heard, openStore } = open({ service });
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('shown');
  const theirs = placard.banner('home_hero')!;
  await placard.track(theirs, 'click');
  const switched = placard.identify('u-2');
  expect(element.textContent).toBe('');
  expect(placard.banner('home_hero')).toBeUndefined();
  expect(await placard.track(theirs, 'click')).toBeNull();
  await switched;
  await vi.waitFor(() => expect(element.textContent).toBe('For u-2'), PATIENCE);
  await placard.flush();
  const tracks = service.requests.filter(({ path }) => path.endsWith('/track'));
  for (const { body } of tracks) {
    const { external_user_id, events } = body as { external_user_id: string; events: { id: string }[] };
    for (const { id } of events) expect(id).toBe(`for-${external_user_id}`);
  }
  const kept = inspect(await openStore('placard-banners').entries(), { depth: 9 });
  expect(kept).toContain('For u-2');
  expect(kept).not.toContain('u-1');
});

const otherUser = (placard: Placard) => placard.identify('u-2').then(() => placard.identify('u-1'));
test.each<[string, (placard: Placard) => Promise<void>]>([
  ['out and in again', (placard) => placard.identify(null).then(() => placard.identify('u-1'))],
  ['in as another user and back', otherUser],
  ['off and on, as consent', (placard) => placard.disable('keep').then(() => placard.enable())],
])('case 56: a dismissal that is still to be sent holds over signing %s', async (_, comeBack) => {
  const { placard, service, openStore, of, heard } = open();
  const lift = service.fail(
    { type: 'status', status: 503 },
    { path: TRACK_PATH, times: Number.POSITIVE_INFINITY },
  );
  placard.mount('home_hero', aSlot(), draw);
  await heard('shown');
  await placard.track(placard.banner('home_hero')!, 'dismiss');
  const before = of('synced').filter(({ placements }) => placements.length > 0).length;
  await comeBack(placard);
  await heard('synced', before + 1);
  expect(placard.banner('home_hero')).toBeNull();
  placard.stop();
  // The next page of the site, and the one after the service has taken the dismissal.
  const next = open({ service, openStore });
  const element = aSlot();
  next.placard.mount('home_hero', element, draw);
  await next.heard('synced');
  expect(element.textContent).toBe('');
  lift();
  await vi.advanceTimersByTimeAsync(60_000);
  await next.placard.flush();
  await next.heard('delivered');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(next.of('shown')).toEqual([]);
  expect(service.events.filter(({ type }) => type === 'dismiss')).toHaveLength(1);
  expect(service.events.filter(({ type }) => type === 'impression')).toEqual([]);
});

/** The outbox does not answer what is asked of it for a while: all its records are wanted at once only for dismissals. */
const slowOutbox = (openStore: (name: string) => Store) => {
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  let isSlow = false;
  const open = (name: string): Store => {
    const store = openStore(name);
    if (name === 'placard-banners') return store;
    const entries: Store['entries'] = async (range) => {
      if (isSlow) {
        asked.resolve();
        await answered.promise;
      }
      return store.entries(range);
    };
    return { ...store, entries };
  };
  return { open, asked: asked.promise, answer: answered.resolve, slow: () => (isSlow = true) };
};

const signBackIn = async () => {
  const outbox = slowOutbox(aProfile());
  const page = open({ openStore: outbox.open });
  page.service.fail({ type: 'status', status: 503 }, { path: TRACK_PATH, times: Number.POSITIVE_INFINITY });
  page.placard.mount('home_hero', aSlot(), draw);
  await page.heard('shown');
  await page.placard.track(page.placard.banner('home_hero')!, 'click');
  await page.placard.identify(null);
  outbox.slow();
  void page.placard.identify('u-1');
  await outbox.asked;
  return { ...page, outbox };
};

test('whoever stops while the outbox is asked for dismissals leaves no timer', async () => {
  const { placard, outbox } = await signBackIn();
  placard.stop();
  outbox.answer();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(vi.getTimerCount()).toBe(0);
});

test('an outbox that does not answer keeps nobody from a banner', async () => {
  const { service, heard } = await signBackIn();
  const before = syncs(service).length;
  await vi.advanceTimersByTimeAsync(2_500);
  await vi.waitFor(() => expect(syncs(service).length).toBe(before + 1), PATIENCE);
  await heard('failed');
});

test('case 56: a dismissal that the record does not know hides the banner when it is delivered', async () => {
  const { placard, service, openStore, heard } = open();
  const lift = service.fail(
    { type: 'status', status: 503 },
    { path: TRACK_PATH, times: Number.POSITIVE_INFINITY },
  );
  placard.mount('home_hero', aSlot(), draw);
  await heard('shown');
  await placard.track(placard.banner('home_hero')!, 'dismiss');
  placard.stop();
  // As an earlier version has left it after a sign-out.
  const key = recordKey(service.origin, 'app', 'u-1');
  const banners = openStore('placard-banners');
  const record = (await banners.get<UserRecord>(key))!;
  await banners.setMany([[key, { ...record, dismissed: [] }]]);
  const next = open({ service, openStore });
  const element = aSlot();
  next.placard.mount('home_hero', element, draw);
  await next.heard('shown');
  lift();
  await vi.advanceTimersByTimeAsync(60_000);
  await next.placard.flush();
  await vi.waitFor(() => expect(element.textContent).toBe(''), PATIENCE);
  expect(next.of('emptied').at(-1)?.reason).toBe('dismissed');
});

test('case 56: a dismissal of somebody else that is still to be sent hides nothing', async () => {
  const { placard, service, heard } = open();
  service.fail({ type: 'status', status: 503 }, { path: TRACK_PATH, times: Number.POSITIVE_INFINITY });
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('shown');
  await placard.track(placard.banner('home_hero')!, 'dismiss');
  await placard.identify('u-2');
  await vi.waitFor(() => expect(placard.banner('home_hero')?.id).toBe('bnr-1'), PATIENCE);
});

test('signing out empties the slots and the cache, and asks for nothing', async () => {
  const { placard, service, heard, openStore } = open();
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('shown');
  await placard.identify(null);
  const before = syncs(service).length;
  await placard.refresh();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(element.textContent).toBe('');
  expect(syncs(service)).toHaveLength(before);
  expect(await openStore('placard-banners').entries()).toEqual([]);
});

test('tells where no slot does that what it would show has changed: by a sync, a dismissal, a sign-out', async () => {
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

test('contract 7.6: refreshes beyond the budget are refused with a notice, not an exception', async () => {
  const { placard, service, of, heard } = open();
  placard.mount('home_hero', aSlot(), draw);
  await heard('synced');
  for (let i = 0; i < 6; i++) await placard.refresh();
  expect(syncs(service)).toHaveLength(6);
  expect(of('failed').map(({ kind }) => kind)).toEqual(['budget']);
});

test('contract 7.6: options that a host leaves undefined leave the budget as it is', async () => {
  const banners = { refreshCapacity: undefined, refreshIntervalMs: undefined } as never;
  const { placard, service, of, heard } = open({ banners });
  placard.mount('home_hero', aSlot(), draw);
  await heard('synced');
  for (let i = 0; i < 6; i++) await placard.refresh();
  expect(syncs(service)).toHaveLength(6);
  expect(of('failed').map(({ kind }) => kind)).toEqual(['budget']);
});

test('contract 7.6: a refresh names its own placements, mounted or not', async () => {
  const { placard, service } = open();
  await placard.refresh(['sidebar']);
  expect(syncs(service)).toEqual([['sidebar']]);
  expect(placard.banner('sidebar')).toBeNull();
});

test('a consent that is neither given nor withheld is withheld, and told', async () => {
  const { placard, service, openStore, of, heard } = open({ consent: 'off' as never });
  placard.mount('home_hero', aSlot(), draw);
  await heard('failed');
  expect(of('failed')).toEqual([
    { type: 'failed', kind: 'config', message: 'Option "consent" must be enabled or disabled' },
  ]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(service.requests).toEqual([]);
  expect(await openStore('placard-banners').entries()).toEqual([]);
  await placard.enable();
  await heard('shown');
});

test('options that cannot be used are told by their names, and all works by the defaults', async () => {
  const { placard, service, of, heard } = open({
    apikey: 'client-key',
    delivery: { timeoutMs: 0, maxBatch: 0, maxEvents: 0 },
    banners: { refreshCapacity: Number.NaN },
  } as never);
  placard.mount('home_hero', aSlot(), draw);
  await heard('tracked');
  await placard.flush();
  expect(service.events.map(({ type }) => type)).toEqual(['impression']);
  expect(of('failed').map(({ kind, message }) => [kind, /"(.+)"/.exec(message)![1]])).toEqual([
    ['config', 'apikey'],
    ['config', 'banners.refreshCapacity'],
    ['config', 'delivery.timeoutMs'],
    ['config', 'delivery.maxBatch'],
    ['config', 'delivery.maxEvents'],
  ]);
});

test('without IntersectionObserver banners are shown and events delivered; it is told once that no impression counts', async () => {
  vi.stubGlobal('IntersectionObserver', undefined);
  onTestFinished(() => void vi.unstubAllGlobals());
  const { placard, service, of, heard } = open({ platform: { IntersectionObserver: undefined } as never });
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('shown');
  expect(element.textContent).toBe('Summer sale');
  await placard.track(placard.banner('home_hero')!, 'click');
  await vi.advanceTimersByTimeAsync(5_000);
  await placard.flush();
  expect(service.events.map(({ type }) => type)).toEqual(['click']);
  expect(of('failed')).toEqual([
    { type: 'failed', kind: 'config', message: expect.stringContaining('IntersectionObserver') },
  ]);
});

test('without consent nothing is stored, synced or tracked; with it everything starts', async () => {
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

test('case 69: an opt-out takes the banners away, forgets the cache, and stops everything', async () => {
  const { placard, service, openStore, heard } = open();
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('shown');
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
});

test.each(['disable', 'wipe'] as const)(
  'case 40: %s reaches the outbox at once, and comes to an end, where the banner store hangs',
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
    expect(of('failed').some(({ message }) => message.includes('banner store'))).toBe(true);
  },
);

test.each(['disable', 'wipe', 'stop', 'identify'] as const)(
  'case 40: after %s no sync that a stumbling service had refused is tried again',
  async (verb) => {
    const service = createFakeService();
    service.fail({ type: 'status', status: 503 }, { times: Number.POSITIVE_INFINITY });
    // At the moment when they leave: the service hears of a request a little later.
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

test('case 51: another user begins where the banner store hangs', async () => {
  const banners = createFaultyStore(createMemoryStore());
  const openStore = aProfile();
  const { placard, heard } = open({
    openStore: (name) => (name === 'placard-banners' ? banners : openStore(name)),
  });
  placard.mount('home_hero', aSlot(), draw);
  await heard('tracked');
  banners.fail({ type: 'hang' }, { times: Number.POSITIVE_INFINITY });
  const switched = placard.identify('u-2');
  await vi.advanceTimersByTimeAsync(10_000);
  await switched;
  expect(placard.banner('home_hero')).toMatchObject({ id: 'bnr-1' });
});

test('case 69: an opt-out of an earlier visit stays one, until it is taken back', async () => {
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

test('case 69: an opt-out of an earlier visit is followed as soon as the outbox opens, however late', async () => {
  const { service, openStore, placard, heard } = open();
  placard.mount('home_hero', aSlot(), draw);
  await heard('synced');
  await placard.disable('keep');
  placard.stop();
  const name = outboxName(service.origin, 'app');
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

test('contract 7.8: a wipe forgets everything, and writes nothing afterwards', async () => {
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

test('contract 7.8: a wipe without consent forgets what an earlier visit has stored, stopped or not', async () => {
  for (const isStopped of [false, true]) {
    const first = open();
    first.placard.mount('home_hero', aSlot(), draw);
    await first.heard('tracked');
    first.placard.stop();
    const outbox = first.openStore(outboxName(first.service.origin, 'app'));
    expect(await outbox.entries()).not.toEqual([]);
    const second = open({ service: first.service, openStore: first.openStore, consent: 'disabled' });
    if (isStopped) second.placard.stop();
    await second.placard.wipe();
    expect(await first.openStore('placard-banners').entries()).toEqual([]);
    expect(await outbox.entries()).toEqual([]);
    expect(localStorage).toHaveLength(0);
  }
});

test('case 59: a property that is not of its declared type is reported, and the banner is drawn', async () => {
  const { placard, of, heard } = open({
    service: createFakeService({
      banners: {
        home_hero: { ...hero, properties: { headline: { type: 'number', value: 'seven' } } },
      } as never,
    }),
  });
  placard.mount('home_hero', aSlot(), draw);
  await heard('shown');
  expect(of('failed')).toMatchObject([{ kind: 'property', message: expect.stringContaining('"headline"') }]);
});

test('case 68: a hook that throws is reported and counts no impression', async () => {
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

test('case 71: an ad blocker that rejects every track call costs neither banner nor click', async () => {
  const { placard, service, heard } = open();
  service.fail({ type: 'drop', when: 'before' }, { path: TRACK_PATH, times: Number.POSITIVE_INFINITY });
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('shown');
  const event = await placard.track(placard.banner('home_hero')!, 'click');
  expect(event).toMatchObject({ type: 'click' });
  expect(element.textContent).toBe('Summer sale');
  await vi.advanceTimersByTimeAsync(600_000);
  const { pending, inDoubt, delivered } = await placard.diagnostics();
  expect(pending + inDoubt).toBeGreaterThan(0);
  expect(delivered).toBe(0);
  expect(service.requests.length).toBeLessThan(30);
});

/** Channels between the tabs of one test, by their names. */
const someChannels = () => {
  const channels = new Map<string, Set<(event: { data: unknown }) => void>>();
  return (name: string) => {
    const mine = new Set<(event: { data: unknown }) => void>();
    const all = channels.get(name) ?? new Set();
    channels.set(name, all);
    return {
      postMessage(data: unknown) {
        for (const listener of all) if (!mine.has(listener)) queueMicrotask(() => listener({ data }));
      },
      addEventListener(_: 'message', listener: (event: { data: unknown }) => void) {
        mine.add(listener);
        all.add(listener);
      },
      close() {
        for (const listener of mine) all.delete(listener);
      },
    };
  };
};

test('case 40: an opt-out that the outbox hears of from another tab empties this one too', async () => {
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
  'case 38: a dismissal holds in its tab where another one goes on as somebody else (%s)',
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
    const left = async () => JSON.stringify(await a.openStore('placard-banners').entries());
    await vi.waitFor(async () => expect(await left()).not.toContain('u-1'), PATIENCE);
    await a.placard.refresh();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(element.textContent).toBe('');
    expect(a.of('shown')).toHaveLength(1);
    expect(await left()).not.toContain('u-1');
  },
);

test('case 38: a test send that is dismissed leaves every tab for good, whatever the service still says', async () => {
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
  await b.heard('emptied');
  await Promise.all([a.placard.refresh(), b.placard.refresh()]);
  unmount();
  a.placard.mount('home_hero', first, draw);
  await vi.advanceTimersByTimeAsync(2_000);
  expect([first.textContent, second.textContent]).toEqual(['', '']);
  for (const tab of [a, b]) expect(tab.of('shown')).toHaveLength(1);
});

test('case 40: a page in the back/forward cache learns of an opt-out before it asks or stores anything', async () => {
  const openChannel = someChannels();
  const page = createFakeLifecycle();
  const a = open({ platform: { openChannel, lifecycle: page.lifecycle } });
  const element = aSlot();
  a.placard.mount('home_hero', element, draw);
  await a.heard('tracked');
  await a.placard.flush();
  page.tell('hidden');
  page.tell('leave');
  const b = open({ platform: { openChannel }, service: a.service, openStore: a.openStore });
  b.placard.mount('home_hero', aSlot(), draw);
  await b.heard('shown');
  await b.placard.disable('purge');
  b.placard.stop();
  const before = a.service.requests.length;
  // Browsers say first that the page is visible.
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

test('a slot without an element or a hook is reported, and harms no other', async () => {
  const { placard, of, heard } = open();
  placard.mount('home_hero', document.querySelector('.missing') as never, draw)();
  placard.mount('home_hero', aSlot(), undefined as never)();
  expect(of('failed').map(({ kind }) => kind)).toEqual(['config', 'config']);
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('shown');
  expect(element.textContent).toBe('Summer sale');
});

test('tracking what is no banner, or no event, counts nothing and throws nothing', async () => {
  const { placard, heard } = open();
  placard.mount('home_hero', aSlot(), draw);
  await heard('shown');
  for (const type of ['impression', 'click', 'dismiss'] as const) {
    expect(await placard.track(null as never, type)).toBeNull();
    expect(await placard.track(undefined as never, type)).toBeNull();
  }
  expect(await placard.track(placard.banner('home_hero')!, 'view' as never)).toBeNull();
});

test('an unusable user ID is reported and counts as nobody', async () => {
  const { placard, service, of } = open({ userId: 'u'.repeat(987) });
  placard.mount('home_hero', aSlot(), draw);
  await vi.advanceTimersByTimeAsync(5_000);
  await placard.identify('');
  expect(service.requests).toEqual([]);
  expect(of('failed').map(({ kind }) => kind)).toEqual(['config', 'config']);
});

test('an unusable user ID at creation is told to who subscribes on the next line', async () => {
  const { placard, of } = open({ userId: '' });
  await placard.diagnostics();
  expect(of('failed')).toMatchObject([{ kind: 'config', message: expect.stringContaining('user ID') }]);
});

test('a store that fails everywhere costs the memory of the page, not the banner', async () => {
  const broken = (): Promise<never> => Promise.reject(new Error('blocked'));
  const store = {
    entries: broken,
    get: broken,
    setMany: broken,
    deleteMany: broken,
    update: broken,
    clear: broken,
  };
  const { placard, of, heard } = open({ openStore: () => store });
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('shown');
  expect(element.textContent).toBe('Summer sale');
  expect(of('failed').some(({ kind }) => kind === 'storage')).toBe(true);
});

test.each([
  { banners: null },
  { banners: new Map([['home_hero', null]]) },
  { dismissed: [null] },
  { session: {} },
])(
  'case 46: a damaged record (%j) throws nothing into the page, and costs neither banner nor impression',
  async (damage) => {
    const service = createFakeService({ banners: { home_hero: hero } });
    const openStore = aProfile();
    const record = { ...emptyRecord(), ...damage };
    await openStore('placard-banners').setMany([[recordKey(service.origin, 'app', 'u-1'), record]]);
    const { placard, heard } = open({ service, openStore });
    const element = aSlot();
    placard.mount('home_hero', element, draw);
    placard.banner('home_hero');
    await heard('tracked');
    expect(placard.banner('home_hero')?.id).toBe('bnr-1');
    expect(element.textContent).toBe('Summer sale');
    expect(await openStore('placard-banners').entries()).toMatchObject([
      [
        expect.anything(),
        {
          banners: new Map([
            ['home_hero', expect.objectContaining({ banner: expect.objectContaining({ id: 'bnr-1' }) })],
          ]),
          session: { id: expect.any(String) },
        },
      ],
    ]);
  },
);

test('after stop the page is as before, and no verb does anything', async () => {
  const { placard, service, notices, heard } = open();
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('tracked');
  const banner = placard.banner('home_hero')!;
  placard.stop();
  const [requests, told] = [service.requests.length, notices.length];
  expect(element.textContent).toBe('');
  placard.mount('home_hero', element, draw)();
  expect(await placard.track(banner, 'click')).toBeNull();
  await placard.identify('u-2');
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(element.textContent).toBe('');
  expect(service.requests).toHaveLength(requests);
  expect(notices).toHaveLength(told);
});
