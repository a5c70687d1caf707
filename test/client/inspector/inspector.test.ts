import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  createPlacard,
  type Inspector,
  type Notice,
  type Placard,
  type PlacementHook,
  type PlacementState,
  type Slot,
  type Store,
} from '../../../src/client/index.ts';
import { createMemoryStore } from '../../../src/client/platform/store.ts';
import { createFakeService, type FakeService, buildBanner as wire } from '../../../src/testing/index.ts';
import { patience } from '../../helpers/patience.ts';

/** Each poll advances the fake time by 50 ms; a busy machine may need many polls. */
const PATIENCE = { timeout: patience(15_000), interval: 50 };

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

/** An IntersectionObserver that reports every element as fully visible, at once. */
class SeesEverything {
  readonly report: IntersectionObserverCallback;
  constructor(report: IntersectionObserverCallback) {
    this.report = report;
  }
  observe(target: Element): void {
    const rect = new DOMRect(0, 0, 300, 250);
    const entry = {
      isIntersecting: true,
      intersectionRatio: 1,
      boundingClientRect: rect,
      intersectionRect: rect,
      target,
    };
    queueMicrotask(() =>
      this.report([entry as unknown as IntersectionObserverEntry], this as unknown as IntersectionObserver),
    );
  }
  disconnect(): void {
    // It reports each element once, so there is nothing to stop.
  }
}

/** Data of one browser profile: stores by name. */
const aProfile = () => {
  const stores = new Map<string, Store>();
  return (name: string): Store => {
    if (!stores.has(name)) stores.set(name, createMemoryStore());
    return stores.get(name)!;
  };
};

const HERO = wire('home_hero', { headline: 'Summer sale' }, { id: 'bnr-1' });
const inAnHour = () => Math.floor(Date.now() / 1_000) + 3_600;

const open = async ({
  service = createFakeService({ banners: { home_hero: HERO } }),
  openStore = aProfile(),
  userId = 'u-1' as string | null,
  mount = ['home_hero'],
  Observer = SeesEverything as unknown as typeof IntersectionObserver | null,
} = {}) => {
  const notices: Notice[] = [];
  const placard = createPlacard({
    endpoint: service.origin,
    apiKey: 'client-key',
    appId: 'app',
    appVersion: '1',
    userId,
    platform: {
      fetch: service.fetch,
      openStore,
      ...(Observer && { IntersectionObserver: Observer }),
    },
  });
  running.push(placard);
  placard.subscribe((notice) => notices.push(notice));
  const of = <T extends Notice['type']>(type: T) =>
    notices.filter((notice): notice is Extract<Notice, { type: T }> => notice.type === type);
  const slots: Slot[] = [];
  const draw: PlacementHook = (banner, slot) => {
    slots.unshift(slot);
    slot.element.textContent = String(banner.properties.headline?.value ?? banner.id);
    return () => slot.element.replaceChildren();
  };
  const elements = mount.map((placementId) => {
    const element = document.createElement('div');
    document.body.append(element);
    placard.mount(placementId, element, draw);
    return element;
  });
  const inspector = (await placard.inspect()) as Inspector;
  const getState = (placementId = 'home_hero'): PlacementState =>
    inspector.read().placements.find((state) => state.placementId === placementId)!;
  const until = (check: () => void) => vi.waitFor(check, PATIENCE);
  const shows = (text: string) => until(() => expect(elements[0]?.textContent).toBe(text));
  return { placard, service, openStore, of, elements, slots, inspector, getState, until, shows };
};

const sent = async (placard: Placard, service: FakeService) => {
  await placard.flush();
  return service.events.map(({ type, bannerId }) => `${type} ${bannerId}`);
};

test('reports the user, the placements and the remaining budget of the session', async () => {
  const { inspector, shows } = await open();
  await shows('Summer sale');
  expect(inspector.read()).toMatchObject({
    appId: 'app',
    appVersion: '1',
    userId: 'u-1',
    isActive: true,
    session: { refreshesLeft: 5 },
    clockSkewMs: 0,
    syncWaitsUntil: null,
    sandbox: { isOn: false, events: [] },
  });
});

test('reports a slot from before the first response to the impression', async () => {
  const { inspector, getState, until, shows } = await open();
  expect(getState()).toMatchObject({ banner: undefined, fetchedAt: null, slots: [{ shown: null }] });
  await shows('Summer sale');
  expect(getState()).toMatchObject({
    banner: { id: 'bnr-1' },
    from: 'sync',
    isExpired: false,
    isDismissed: false,
    snoozedUntil: null,
    slots: [{ shown: { id: 'bnr-1' }, emptyReason: null, issues: [] }],
  });
  expect(getState().slots[0]?.view).toMatchObject({ requiredShare: 0.5, requiredMs: 1_000, isSeen: false });
  await until(() => expect(getState().slots[0]?.view?.isSeen).toBe(true));
  expect(inspector.read().recent.map(({ notice }) => notice.type)).toContain('synced');
});

test('lists the slots of a browser that cannot measure visibility', async () => {
  vi.stubGlobal('IntersectionObserver', undefined);
  const { getState, shows } = await open({ Observer: null });
  await shows('Summer sale');
  expect(getState().slots).toMatchObject([{ shown: { id: 'bnr-1' }, view: null }]);
  vi.unstubAllGlobals();
});

test('lists cached placements without a slot in the page', async () => {
  const first = await open();
  await first.shows('Summer sale');
  first.placard.stop();
  const { getState, until } = await open({ openStore: first.openStore, mount: [] });
  await until(() => expect(getState()).toMatchObject({ banner: { id: 'bnr-1' }, from: 'cache', slots: [] }));
});

test('distinguishes expired, dismissed and control banners', async () => {
  const service = createFakeService({
    banners: {
      expiring: wire('expiring', {}, { id: 'bnr-e', expires_at: inAnHour() }),
      home_hero: HERO,
      held: wire('held', {}, { id: 'bnr-h', is_control: true, properties: null }),
    },
  });
  const { getState, slots, until, elements } = await open({
    service,
    mount: ['home_hero', 'expiring', 'held'],
  });
  await until(() => expect(elements[1]?.textContent).toBe('bnr-e'));
  await slots.find(({ placementId }) => placementId === 'home_hero')!.dismiss();
  await vi.advanceTimersByTimeAsync(3_601_000);
  expect(getState('home_hero')).toMatchObject({ banner: null, isDismissed: true });
  expect(getState('expiring')).toMatchObject({ banner: { id: 'bnr-e' }, isExpired: true });
  expect(getState('held')).toMatchObject({ slots: [{ shown: { isControl: true }, emptyReason: 'control' }] });
});

test('lists problems of the placements', async () => {
  const { placard, getState, until } = await open({ mount: [] });
  const element = document.body.appendChild(document.createElement('div'));
  const hook: PlacementHook = Object.assign(() => undefined, {
    validate: () => [{ message: 'needs an image', path: ['image'] }],
  });
  placard.mount('home_hero', element, hook);
  await until(() =>
    expect(getState().slots[0]).toMatchObject({
      emptyReason: 'invalid',
      issues: [{ message: 'needs an image', path: ['image'] }],
    }),
  );
});

test('is active only with consent, and does not show a user who has signed out', async () => {
  const { placard, inspector } = await open();
  await placard.identify(null);
  expect(inspector.read()).toMatchObject({ userId: null, isActive: true });
  await placard.disable();
  expect(inspector.read().isActive).toBe(false);
});

test('reports the wait that the service requested, and its message', async () => {
  const service = createFakeService();
  service.fail({ type: 'status', status: 404 });
  const { inspector, until } = await open({ service });
  await until(() => expect(inspector.read().syncWaitsUntil).toBeGreaterThan(Date.now()));
  const last = inspector.read().recent.map(({ notice }) => notice);
  expect(last).toContainEqual(expect.objectContaining({ type: 'failed', kind: 'not-found' }));
});

test('focus renders a dismissed banner at once without storing or sending events', async () => {
  const { placard, service, slots, inspector, getState, shows, of, until } = await open();
  await shows('Summer sale');
  const banner = placard.banner('home_hero')!;
  await slots[0]!.dismiss();
  await shows('');
  inspector.focus('home_hero', banner);
  await shows('Summer sale');
  expect(getState()).toMatchObject({ isFocused: true, isDismissed: true, banner: null });
  await slots[0]!.click();
  await until(() => expect(inspector.read().sandbox.events.length).toBeGreaterThan(1));
  expect(
    inspector
      .read()
      .sandbox.events.map(({ type }) => type)
      .sort(),
  ).toEqual(['click', 'impression']);
  expect(await sent(placard, service)).toEqual(['dismiss bnr-1']);
  expect(of('tracked')).toHaveLength(1);
  inspector.focus('home_hero', null);
  await shows('');
});

test('focus survives a sync and ends when the focused banner is dismissed or the user changes', async () => {
  const { placard, service, slots, inspector, getState, shows } = await open();
  await shows('Summer sale');
  inspector.focus('home_hero', { ...placard.banner('home_hero')!, properties: {}, id: 'other' });
  await shows('focus:other');
  await placard.refresh();
  await shows('focus:other');
  expect(getState().isFocused).toBe(true);
  await slots[0]!.dismiss();
  await shows('Summer sale');
  expect(getState()).toMatchObject({ isFocused: false, isDismissed: false });
  inspector.focus('home_hero', placard.banner('home_hero')!);
  await placard.identify(null);
  expect(getState()).toMatchObject({ isFocused: false });
  inspector.focus('home_hero', HERO as never);
  expect(getState()).toMatchObject({ isFocused: false });
  expect((await sent(placard, service)).filter((event) => event !== 'impression bnr-1')).toEqual([]);
});

test('the sandbox accepts every event type, does not store events, and discards its dismissals', async () => {
  const { placard, service, openStore, slots, inspector, getState, shows, of, until } = await open();
  inspector.setSandbox(true);
  await shows('Summer sale');
  await until(() => expect(inspector.read().sandbox.events).toHaveLength(1));
  await slots[0]!.click();
  await slots[0]!.dismiss();
  await shows('');
  expect(getState().isHidden).toBe(true);
  expect(inspector.read().sandbox.events).toMatchObject([
    { type: 'impression', bannerId: 'bnr-1', userId: 'u-1' },
    { type: 'click' },
    { type: 'dismiss' },
  ]);
  await placard.refresh();
  await shows('');
  expect(getState().isHidden).toBe(true);
  expect(await sent(placard, service)).toEqual([]);
  expect(of('tracked')).toEqual([]);
  expect(await placard.diagnostics()).toMatchObject({ captured: 0, pending: 0 });
  const stored = await openStore('placard-banners').entries();
  expect(stored.map(([, record]) => (record as { dismissed: unknown[] }).dismissed)).toEqual([[]]);
  inspector.setSandbox(false);
  await shows('Summer sale');
  expect(inspector.read().sandbox).toEqual({ isOn: false, events: [] });
});

test('counts banners viewed in the sandbox once it ends', async () => {
  const { placard, service, inspector, shows, until } = await open();
  inspector.setSandbox(true);
  await shows('Summer sale');
  await until(() => expect(inspector.read().sandbox.events).toHaveLength(1));
  inspector.setSandbox(false);
  await until(async () => expect(await sent(placard, service)).toEqual(['impression bnr-1']));
});

test('lists an impression in the sandbox once, as the client would count it', async () => {
  const { placard, inspector, shows, until } = await open({ mount: ['home_hero', 'home_hero'] });
  inspector.setSandbox(true);
  await shows('Summer sale');
  await until(() => expect(inspector.read().sandbox.events).toHaveLength(1));
  await placard.track(placard.banner('home_hero')!, 'impression');
  expect(inspector.read().sandbox.events).toHaveLength(1);
});
