import { expect, test, vi } from 'vitest';
import { userTokens, visitors } from '../../src/client/index.ts';
import type { Store, StoreKey } from '../../src/client/platform/store.ts';
import { isVisitorId, VISITOR_JOIN_PATH } from '../../src/protocol/index.ts';
import { createFakeService, type FakeService } from '../../src/testing/index.ts';
import { createFakeLifecycle } from './delivery/world.ts';
import { aProfile, aSlot, draw, hero, open, PATIENCE, stagePages } from './pages.ts';

/** Pending load of the visitor's chunk. */
const chunk = vi.hoisted(() => ({ begun: 0, loaded: Promise.resolve() }));
vi.mock('../../src/client/user/visitors.ts', async (original) => {
  const { createVisitors } = await original<typeof import('../../src/client/user/visitors.ts')>();
  return {
    createVisitors: async (...given: Parameters<typeof createVisitors>) => {
      chunk.begun += 1;
      await chunk.loaded;
      return createVisitors(...given);
    },
  };
});

stagePages();

const keyAt = (endpoint: string) => `placard-visitor:app@${endpoint}`;
const KEY = keyAt(createFakeService().origin);
const kept = () => localStorage.getItem(KEY);
const provide = (userId: string) => `token-${userId}`;
const SIGNED = [visitors(), userTokens(provide)];
const joins = (service: FakeService) =>
  service.requests.filter(({ path }) => path === VISITOR_JOIN_PATH).map(({ body }) => body);

/** A page without a signed-in user, with a banner that was seen. */
const visit = async (options: Parameters<typeof open>[0] = {}) => {
  const page = open({ userId: null, use: [visitors()], ...options });
  const element = aSlot();
  page.placard.mount('home_hero', element, draw);
  await page.heard('tracked');
  return { ...page, element, visitor: kept()! };
};

test('shows banners to a visitor and counts under a random ID of the browser profile', async () => {
  const { placard, service, element, visitor } = await visit();
  expect(isVisitorId(visitor)).toBe(true);
  expect(element.textContent).toBe('Summer sale');
  await placard.flush();
  expect(service.events).toMatchObject([{ userId: visitor, type: 'impression' }]);
  localStorage.clear();
  expect((await visit()).visitor).not.toBe(visitor);
});

test('keeps the visitor on the next visit, paints from the cache, and counts as for a user', async () => {
  const { placard, service, openStore, visitor } = await visit();
  placard.stop();
  const next = open({ userId: null, use: [visitors()], service, openStore });
  next.placard.mount('home_hero', aSlot(), draw);
  await next.heard('shown');
  expect(next.of('shown')).toMatchObject([{ from: 'cache' }]);
  expect(kept()).toBe(visitor);
});

test.each<[string, (page: ReturnType<typeof open>) => Promise<void>]>([
  ['a wipe', ({ placard }) => placard.wipe()],
  ['an opt-out', ({ placard }) => placard.disable()],
  ['a stop', async ({ placard }) => placard.stop()],
])('%s during the creation of the visitor leaves none behind', async (_, leave) => {
  const loaded = Promise.withResolvers<void>();
  chunk.loaded = loaded.promise;
  const before = chunk.begun;
  const page = open({ userId: null, use: [visitors()] });
  page.placard.mount('home_hero', aSlot(), draw);
  await vi.waitFor(() => expect(chunk.begun).toBe(before + 1), PATIENCE);
  await leave(page);
  loaded.resolve();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(localStorage).toHaveLength(0);
});

test('uses different visitor IDs for two workspaces of one site, and a sign-in to one does not affect the other', async () => {
  const shop = await visit();
  const otherService = createFakeService({ origin: 'https://other.example', banners: { home_hero: hero } });
  const other = await visit({ service: otherService });
  const otherKey = keyAt(otherService.origin);
  const visitor = localStorage.getItem(otherKey)!;
  expect(isVisitorId(visitor)).toBe(true);
  expect(visitor).not.toBe(shop.visitor);
  await shop.placard.identify('u-1');
  expect(localStorage.getItem(otherKey)).toBe(visitor);
  expect(other.placard.banner('home_hero')).not.toBeNull();
});

test('does not create or join a visitor on a prerendered page until it is activated', async () => {
  const first = await visit();
  await first.placard.flush();
  first.placard.stop();
  const { promise: activated, resolve: activate } = Promise.withResolvers<void>();
  const { lifecycle, tell } = createFakeLifecycle(true);
  const asked = vi.fn(provide);
  const { service, openStore } = first;
  service.clear();
  open({
    service,
    openStore,
    userId: 'u-1',
    use: [visitors(), userTokens(asked)],
    platform: { lifecycle: { ...lifecycle, whenActivated: () => activated } },
  });
  await vi.advanceTimersByTimeAsync(20_000);
  expect([asked.mock.calls, joins(service), kept()]).toEqual([[], [], first.visitor]);
  tell('activated');
  activate();
  await vi.waitFor(() => expect(joins(service)).toHaveLength(1), PATIENCE);
});

test('does not create a visitor without the option or without consent', async () => {
  const plain = open({ userId: null });
  const refused = open({ userId: null, use: [visitors()], consent: 'disabled' });
  const undecided = open({ userId: null, use: [visitors()], consent: 'pending' });
  for (const { placard } of [plain, refused, undecided]) placard.mount('home_hero', aSlot(), draw);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(kept()).toBeNull();
  for (const { service } of [plain, refused, undecided]) expect(service.requests).toEqual([]);
  await undecided.placard.enable();
  await undecided.heard('shown');
  expect(isVisitorId(kept()!)).toBe(true);
});

test('does not create a visitor or send an extra request on a page with a known user', async () => {
  const { placard, service, heard } = open({ use: SIGNED });
  placard.mount('home_hero', aSlot(), draw);
  await heard('tracked');
  expect(kept()).toBeNull();
  expect(joins(service)).toEqual([]);
});

test('joins the visitor on sign-in after the service receives the visitor’s events', async () => {
  const { placard, service, visitor, heard } = await visit({ use: SIGNED });
  await placard.identify('u-1');
  await heard('synced', 2);
  expect(joins(service)).toEqual([
    {
      external_user_id: 'u-1',
      visitor_id: visitor,
      app_id: 'app',
      app_version: '1',
      user_token: 'token-u-1',
    },
  ]);
  const paths = service.requests.map(({ path }) => path.split('/').at(-1));
  expect(paths.indexOf('track')).toBeLessThan(paths.indexOf('join'));
  expect(paths.lastIndexOf('sync')).toBeGreaterThan(paths.indexOf('join'));
  expect(kept()).toBeNull();
});

test('joins the visitor on a page loaded after the sign-in as well', async () => {
  const { placard, service, openStore, visitor } = await visit({ use: SIGNED });
  placard.stop();
  const next = open({ use: SIGNED, service, openStore });
  await vi.waitFor(() => expect(joins(service)).toHaveLength(1), PATIENCE);
  expect(joins(service)).toMatchObject([{ external_user_id: 'u-1', visitor_id: visitor }]);
  await vi.waitFor(() => expect(kept()).toBeNull(), PATIENCE);
  expect(next.of('failed')).toEqual([]);
});

test.each([true, false])(
  'hides banners for the user that the visitor dismissed, with tokens: %s',
  async (isSigned) => {
    const { placard, service, element, heard } = await visit({ ...(isSigned && { use: SIGNED }) });
    await placard.track(placard.banner('home_hero')!, 'dismiss');
    await placard.identify('u-1');
    await heard('synced', 2);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(element.textContent).toBe('');
    expect(joins(service)).toHaveLength(isSigned ? 1 : 0);
    expect(kept()).toBeNull();
  },
);

test('applies the visitor’s dismissals to a user who signs in while the previous user joins the visitor', async () => {
  const openStore = aProfile();
  let onRead: ((key: StoreKey) => void) | undefined;
  const watched = (name: string): Store => {
    const store = openStore(name);
    return {
      ...store,
      get(key) {
        onRead?.(key);
        return store.get(key);
      },
    };
  };
  const { placard, heard, visitor } = await visit({ openStore: watched });
  await placard.track(placard.banner('home_hero')!, 'dismiss');
  await placard.flush();
  let second: Promise<void> | undefined;
  onRead = (key) => {
    if (String(key).includes(visitor)) second ??= placard.identify('u-2');
  };
  await placard.identify('u-1');
  expect(second).toBeDefined();
  await second;
  await heard('synced', 2);
  await vi.waitFor(() => expect(placard.banner('home_hero')).toMatchObject({ id: hero.id }), PATIENCE);
});

test('retries a join that the network dropped on the user’s next page', async () => {
  const service = createFakeService({ banners: { home_hero: hero } });
  const { placard, openStore, visitor } = await visit({ service, use: SIGNED });
  await placard.flush();
  service.fail({ type: 'drop', when: 'before' }, { times: Number.POSITIVE_INFINITY });
  void placard.identify('u-1');
  await vi.waitFor(() => expect(kept()).toBe(`${visitor} u-1`), PATIENCE);
  await vi.advanceTimersByTimeAsync(20_000);
  placard.stop();
  service.recover();
  open({ use: SIGNED, service, openStore });
  await vi.waitFor(() => expect(kept()).toBeNull(), PATIENCE);
  expect(joins(service).at(-1)).toMatchObject({ external_user_id: 'u-1', visitor_id: visitor });
});

test('does not join the previous user’s visitor to a user who signs in afterwards', async () => {
  const { placard, visitor } = await visit();
  placard.stop();
  localStorage.setItem(KEY, `${visitor} u-1`);
  const next = open({ userId: 'u-2', use: SIGNED });
  next.placard.mount('home_hero', aSlot(), draw);
  await next.heard('shown');
  expect(kept()).toBeNull();
  expect(joins(next.service)).toEqual([]);
});

test('starts a new visitor on sign-out', async () => {
  const { placard, visitor } = await visit();
  await placard.identify('u-1');
  await placard.identify(null);
  expect(isVisitorId(kept()!)).toBe(true);
  expect(kept()).not.toBe(visitor);
});

test('sends one request to a service without visitors', async () => {
  const service = createFakeService({ banners: { home_hero: hero } });
  const { placard, of } = await visit({ service, use: SIGNED });
  await placard.flush();
  service.fail({ type: 'status', status: 404 }, { times: 1 });
  await placard.identify('u-1');
  expect(kept()).toBeNull();
  expect(of('failed')).toMatchObject([{ kind: 'sync', message: expect.stringContaining('404') }]);
});

test.each(['wipe', 'disable'] as const)('%s removes the visitor', async (verb) => {
  const { placard } = await visit();
  await placard[verb]();
  expect(localStorage).toHaveLength(0);
});

test('does not create a visitor and does not throw if localStorage is blocked', async () => {
  const blocked = () => {
    throw new DOMException('Denied', 'SecurityError');
  };
  vi.stubGlobal('localStorage', { getItem: blocked, setItem: blocked, removeItem: blocked });
  const { placard, service, of } = open({ userId: null, use: [visitors()], openStore: aProfile() });
  placard.mount('home_hero', aSlot(), draw);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(service.requests).toEqual([]);
  expect(of('failed')).toMatchObject([
    { kind: 'storage', message: 'localStorage is blocked or full: no visitor is created' },
  ]);
  vi.unstubAllGlobals();
});
