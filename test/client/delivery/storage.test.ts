// @vitest-environment node
import { describe, expect, test } from 'vitest';
import type { Store, StoreKey } from '../../../src/client/platform/store.ts';
import {
  assertConserved,
  assertDeliveredExactlyOnce,
  createFaultyStore,
  type FaultyStore,
} from '../../../src/testing/index.ts';
import { createWorld, deafLink, type World } from './world.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** A world whose one tab has a store that fails on demand. */
const withFaultyStore = () => {
  const world = createWorld();
  const store = createFaultyStore(world.disk.openStore(world.name));
  return { world, store, openTab: (setup = {}) => world.openTab({ openStore: () => store, ...setup }) };
};

describe('storage', () => {
  test('case 41: a store that never opens means memory mode within two seconds, and events still leave', async () => {
    const { world, store, openTab } = withFaultyStore();
    const lift = store.fail({ type: 'hang' }, { times: Number.POSITIVE_INFINITY });
    const tab = openTab();
    const captured = tab.capture('a');
    await world.clock.advance(2_000);
    expect(await captured).toMatchObject({ bannerId: 'a' });
    expect(tab.noticesOf('memory-mode')).toMatchObject([
      { on: true, reason: expect.stringContaining('2000 ms') },
    ]);
    expect(await tab.delivery.diagnostics()).toMatchObject({ memoryMode: true, captured: 1 });
    await tab.delivery.flush();
    expect(world.sent()).toEqual([['a']]);
    lift();
  });

  test('case 41: a store that fails to open means memory mode at once, and it is left later without loss', async () => {
    const { world, store, openTab } = withFaultyStore();
    const before = world.openTab();
    await before.capture('stored');
    before.kill();
    store.fail({ type: 'reject', error: 'InvalidStateError' }, { times: Number.POSITIVE_INFINITY });
    const tab = openTab();
    world.service.fail({ type: 'status', status: 503 }, { times: 1 });
    const events = await tab.captureMany(3);
    await tab.delivery.flush();
    expect(await tab.delivery.diagnostics()).toMatchObject({ memoryMode: true, pending: 3 });
    store.recover();
    tab.tell('visible');
    await world.settle();
    expect(tab.noticesOf('memory-mode').map(({ on }) => on)).toEqual([true, false]);
    const diagnostics = await tab.delivery.diagnostics();
    assertConserved(diagnostics);
    expect(diagnostics).toMatchObject({ memoryMode: false, captured: 4 });
    tab.kill();
    const next = world.openTab();
    await world.clock.advance(10 * MINUTE_MS);
    expect(await next.delivery.diagnostics()).toMatchObject({ captured: 4, delivered: 4 });
    expect(world.service.events).toHaveLength(4);
    for (const event of events) {
      expect(world.service.events.filter(({ bannerId }) => bannerId === event!.bannerId)).toHaveLength(1);
    }
  });

  test('case 41: a request under way during the return from memory mode is settled in the real store', async () => {
    const { world, store, openTab } = withFaultyStore();
    store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
    const tab = openTab();
    await tab.captureMany(3);
    world.service.fail({ type: 'slow', delayMs: 1_000 });
    void tab.delivery.flush();
    await world.settle();
    store.recover();
    tab.tell('visible');
    await world.clock.advance(MINUTE_MS);
    expect(await tab.delivery.diagnostics()).toMatchObject({
      memoryMode: false,
      captured: 3,
      delivered: 3,
      pending: 0,
      inDoubt: 0,
    });
    expect(world.service.requests).toHaveLength(1);
  });

  /** Three events in memory, and a store that works again. */
  const withEventsInMemory = async () => {
    const { world, store, openTab } = withFaultyStore();
    const before = world.openTab();
    await before.capture('stored');
    await before.delivery.flush();
    before.kill();
    store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
    const tab = openTab();
    world.service.fail({ type: 'status', status: 503 });
    await tab.captureMany(3);
    await tab.delivery.flush();
    store.recover();
    return { world, store, tab };
  };

  test('case 42: a return from memory mode whose answer is lost, or that runs twice, loses and doubles nothing', async () => {
    const { world, store, tab } = await withEventsInMemory();
    const { update } = store;
    // The platform's store tries once more after a lost connection; here that is the test.
    store.update = async (keys, change) => {
      await update(keys, change);
      return update(keys, change);
    };
    store.fail({ type: 'lose-answer' }, { verbs: ['update'] });
    tab.tell('visible');
    await world.settle();
    store.update = update;
    await world.clock.advance(10 * MINUTE_MS);
    const diagnostics = await tab.delivery.diagnostics();
    expect(diagnostics).toMatchObject({ memoryMode: false, pending: 0, inDoubt: 0 });
    assertConserved(diagnostics);
    // What was moved twice was sent twice, and the service counts it once.
    expect(world.service.events).toHaveLength(4);
  });

  test.each([
    ['a lease', 0],
    ['a settlement', 1],
  ])('case 42: %s whose answer is lost after its commit is told once, and costs no wait', async (_, nth) => {
    const world = createWorld();
    const disk = world.disk.openStore(world.name);
    let batchWrites = 0;
    const tab = world.openTab({
      openStore: () => ({
        ...disk,
        async update(keys, change) {
          await disk.update(keys, change);
          const isBatch = keys.some((key) => (key as StoreKey[])[2] === 'batch');
          if (!isBatch) return;
          batchWrites += 1;
          if (batchWrites === nth + 1) await disk.update(keys, change);
        },
      }),
    });
    world.service.fail({ type: 'skip', indices: [1] });
    await tab.captureMany(2, 'dismiss');
    expect(await tab.delivery.flush()).toEqual({ delivered: 1, pending: 1 });
    expect(batchWrites).toBeGreaterThan(nth);
    expect(tab.noticesOf('delivered').flatMap(({ events }) => events)).toMatchObject([{ bannerId: 'b0' }]);
    expect(tab.noticesOf('skipped')).toMatchObject([{ event: { bannerId: 'b1' }, attempts: 1 }]);
    const diagnostics = await tab.delivery.diagnostics();
    expect(diagnostics).toMatchObject({ captured: 2, delivered: 1, pending: 1, inDoubt: 0 });
    assertConserved(diagnostics);
  });

  test('case 42: also where the store fails again before it can say so, with what came since', async () => {
    const { world, store, tab } = await withEventsInMemory();
    store.fail({ type: 'lose-answer' }, { verbs: ['update'], times: 2 });
    tab.tell('visible');
    await world.settle();
    expect(await tab.delivery.diagnostics()).toMatchObject({ memoryMode: true });
    const offline = world.service.fail({ type: 'status', status: 503 }, { times: Number.POSITIVE_INFINITY });
    await tab.capture('since');
    await world.clock.advance(MINUTE_MS);
    offline();
    await world.clock.advance(10 * MINUTE_MS);
    const diagnostics = await tab.delivery.diagnostics();
    expect(diagnostics).toMatchObject({ memoryMode: false, pending: 0, inDoubt: 0 });
    assertConserved(diagnostics);
    expect(world.service.events).toHaveLength(5);
  });

  test('case 41: what was captured in memory mode is forgotten when the store says that the user opted out', async () => {
    const { world, store, openTab } = withFaultyStore();
    const before = world.openTab();
    await before.delivery.disable('keep');
    before.kill();
    store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
    const tab = openTab({ options: { maxWaitMs: DAY_MS } });
    await tab.captureMany(3);
    store.recover();
    tab.tell('visible');
    await world.settle();
    const diagnostics = await tab.delivery.diagnostics();
    expect(diagnostics).toMatchObject({ captured: 3, purged: 3, pending: 0 });
    assertConserved(diagnostics);
    expect(await tab.capture()).toBeNull();
  });

  test('case 40: an opt-out of an earlier visit is told when memory mode ends, and stays one when it begins again', async () => {
    const { world, store, openTab } = withFaultyStore();
    const before = world.openTab();
    await before.capture('stored');
    await before.delivery.disable('keep');
    before.kill();
    const breakDisk = () =>
      store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
    breakDisk();
    const tab = openTab();
    expect(await tab.delivery.isAllowed()).toBe(true);
    store.recover();
    tab.tell('visible');
    await world.settle();
    expect(await tab.delivery.isAllowed()).toBe(false);
    expect(tab.noticesOf('consent')).toEqual([{ type: 'consent', state: 'disabled' }]);
    breakDisk();
    expect(await tab.delivery.isAllowed()).toBe(false);
    expect(await tab.capture()).toBeNull();
    expect(tab.noticesOf('memory-mode').map(({ on }) => on)).toEqual([true, false, true]);
    expect(tab.noticesOf('consent')).toHaveLength(1);
    expect(world.service.requests).toEqual([]);
  });

  test('case 40: an opt-out that is read before the log goes on in memory is not undone by it', async () => {
    const { world, store, openTab } = withFaultyStore();
    const before = world.openTab();
    await before.capture('stored');
    await before.delivery.disable('keep');
    before.kill();
    const tab = openTab();
    expect(await tab.delivery.isAllowed()).toBe(false);
    store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
    expect(await tab.delivery.diagnostics()).toMatchObject({ memoryMode: true });
    expect(await tab.capture()).toBeNull();
    expect(await tab.delivery.isAllowed()).toBe(false);
    expect(tab.noticesOf('consent')).toEqual([{ type: 'consent', state: 'disabled' }]);
  });

  /** Opted out on the disk, and in again in memory a minute later. */
  const withOptInInMemory = async (setup = {}) => {
    const { world, store, openTab } = withFaultyStore();
    const other = world.openTab(setup);
    await other.capture('stored');
    await other.delivery.disable('keep');
    store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
    const tab = openTab({ consent: 'disabled', ...setup });
    await world.clock.advance(MINUTE_MS);
    await tab.delivery.enable();
    const offline = world.service.fail({ type: 'status', status: 503 }, { times: Number.POSITIVE_INFINITY });
    await tab.capture('in memory');
    await world.clock.advance(1_000);
    offline();
    return { world, store, other, tab };
  };

  test('case 69: an opt-in in memory mode is the last choice when the disk is back', async () => {
    const { world, store, other, tab } = await withOptInInMemory();
    other.kill();
    store.recover();
    tab.tell('visible');
    await world.clock.advance(10 * MINUTE_MS);
    expect(await tab.capture('after')).not.toBeNull();
    await world.clock.advance(MINUTE_MS);
    expect(tab.noticesOf('consent')).toEqual([{ type: 'consent', state: 'enabled' }]);
    expect(world.service.events.map(({ bannerId }) => bannerId).sort()).toEqual([
      'after',
      'in memory',
      'stored',
    ]);
    const diagnostics = await tab.delivery.diagnostics();
    expect(diagnostics).toMatchObject({ memoryMode: false, captured: 3, delivered: 3, purged: 0 });
    assertConserved(diagnostics);
  });

  test.each([
    ['the channel tells of', {}],
    ['nothing tells of', { openChannel: deafLink }],
  ])('case 69: a later opt-out that %s wins over an opt-in in memory mode', async (_, setup) => {
    const { world, store, other, tab } = await withOptInInMemory(setup);
    await other.delivery.disable('keep');
    store.recover();
    tab.tell('visible');
    await world.clock.advance(10 * MINUTE_MS);
    expect(await tab.delivery.isAllowed()).toBe(false);
    expect(await other.delivery.diagnostics()).toMatchObject({ captured: 2, pending: 1, purged: 1 });
    expect(world.service.events).toEqual([]);
  });

  test('case 69: so does one that this tab heard of from another that is in memory mode too', async () => {
    const { world, store, other, tab } = await withOptInInMemory();
    other.kill();
    const broken = createFaultyStore(world.disk.openStore(world.name));
    broken.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
    await world.openTab({ openStore: () => broken }).delivery.disable('keep');
    await world.settle();
    store.recover();
    tab.tell('visible');
    await world.clock.advance(10 * MINUTE_MS);
    expect(await world.openTab().delivery.isAllowed()).toBe(false);
    expect(world.service.events).toEqual([]);
  });

  test.each(['setMany', 'update'] as const)(
    'case 42: an event whose %s was committed though the answer was lost is stored and sent once',
    async (verb) => {
      const { world, store, openTab } = withFaultyStore();
      // The platform's store tries once more after a lost connection; here that is the test.
      const again =
        <A extends unknown[]>(work: (...values: A) => Promise<void>) =>
        (...values: A) =>
          work(...values).catch(() => work(...values));
      const update = again(store.update) as Store['update'];
      const tab = openTab({ openStore: () => ({ ...store, setMany: again(store.setMany), update }) });
      await world.settle();
      store.fail({ type: 'lose-answer' }, { verbs: [verb] });
      const events = await Promise.all(
        ['b1', 'b2'].map((bannerId) => {
          const once = verb === 'update' ? { once: bannerId } : {};
          return tab.delivery.capture({ type: 'click', bannerId, placementId: 'p', userId: 'u1', ...once });
        }),
      );
      await tab.delivery.flush();
      assertDeliveredExactlyOnce(world.service.events, events as never);
      expect(await tab.delivery.diagnostics()).toMatchObject({
        captured: 2,
        delivered: 2,
        memoryMode: false,
      });
      expect(world.service.requests).toHaveLength(1);
    },
  );

  test('case 43: at the quota the caches go first, then impressions, and the page sees no exception', async () => {
    const { world, store, openTab } = withFaultyStore();
    const order: string[] = [];
    const tab = openTab({
      options: { maxWaitMs: DAY_MS },
      makeRoom: async () => {
        order.push('cache');
      },
    });
    await tab.captureMany(10, 'impression');
    await tab.captureMany(10, 'click');
    await tab.captureMany(10, 'dismiss');
    store.fail({ type: 'reject', error: 'QuotaExceededError' }, { verbs: ['setMany'] });
    const event = await tab.capture('last', 'click');
    expect(event).toMatchObject({ bannerId: 'last' });
    order.push(...tab.noticesOf('dropped').map(({ event: { type } }) => type));
    expect(order[0]).toBe('cache');
    expect(order.slice(1)).toEqual(Array.from({ length: 10 }, () => 'impression'));
    const diagnostics = await tab.delivery.diagnostics();
    expect(diagnostics).toMatchObject({ captured: 31, evicted: 10, pending: 21 });
    assertConserved(diagnostics);
    expect(world.clock.pending()).toBeGreaterThan(0);
  });

  test('case 43: with nothing left to give up the client goes on in memory', async () => {
    const { world, store, openTab } = withFaultyStore();
    const tab = openTab();
    await world.settle();
    store.fail(
      { type: 'reject', error: 'QuotaExceededError' },
      { verbs: ['update', 'setMany'], times: Number.POSITIVE_INFINITY },
    );
    expect(await tab.capture('a')).toMatchObject({ bannerId: 'a' });
    expect(tab.noticesOf('memory-mode')).toMatchObject([{ on: true }]);
    await tab.delivery.flush();
    expect(world.sent()).toEqual([['a']]);
  });

  test('case 43: a disk so full that it refuses even to forget means memory mode, and no event is refused', async () => {
    const { world, store, openTab } = withFaultyStore();
    const tab = openTab({
      options: { maxWaitMs: DAY_MS },
      makeRoom: () => Promise.reject(new Error('the cache is broken too')),
    });
    await tab.captureMany(10, 'impression');
    const lift = store.fail(
      { type: 'reject', error: 'QuotaExceededError' },
      { verbs: ['update', 'setMany'], times: Number.POSITIVE_INFINITY },
    );
    expect(await tab.captureMany(5, 'click')).not.toContain(null);
    expect(tab.noticesOf('memory-mode')).toMatchObject([{ on: true }]);
    lift();
    tab.tell('visible');
    await world.settle();
    const diagnostics = await tab.delivery.diagnostics();
    expect(diagnostics).toMatchObject({ captured: 15, pending: 15, memoryMode: false });
    assertConserved(diagnostics);
  });

  /** Three events on the disk that the next page must not send. */
  const withStoredEvents = async () => {
    const { world, store, openTab } = withFaultyStore();
    const tab = openTab();
    const lift = world.service.fail({ type: 'status', status: 503 }, { times: Number.POSITIVE_INFINITY });
    await tab.captureMany(3);
    await tab.delivery.flush();
    lift();
    return { world, store, openTab, tab };
  };
  const sentByTheNextPage = async (world: World, store: FaultyStore): Promise<number> => {
    store.recover();
    const before = world.service.requests.length;
    const next = world.openTab();
    await world.clock.advance(10 * MINUTE_MS);
    await next.delivery.enable();
    await world.clock.advance(10 * MINUTE_MS);
    return world.service.requests.length - before;
  };

  test.each([1, Number.POSITIVE_INFINITY])(
    'case 69: a full disk (%d times) does not keep an opt-out from forgetting the events',
    async (times) => {
      const { world, store, tab } = await withStoredEvents();
      store.fail({ type: 'reject', error: 'QuotaExceededError' }, { verbs: ['update'], times });
      await tab.delivery.disable('purge');
      await world.settle();
      expect(await tab.delivery.isAllowed()).toBe(false);
      tab.kill();
      expect(await sentByTheNextPage(world, store)).toBe(0);
    },
  );

  test('case 69: a full disk keeps an opt-out, and what the user wants kept', async () => {
    const { world, store, tab } = await withStoredEvents();
    await tab.captureMany(3, 'impression');
    store.fail({ type: 'reject', error: 'QuotaExceededError' }, { verbs: ['update'] });
    await tab.delivery.disable('keep');
    tab.kill();
    const next = world.openTab();
    await world.clock.advance(10 * MINUTE_MS);
    expect(await next.delivery.isAllowed()).toBe(false);
    expect(await next.delivery.diagnostics()).toMatchObject({ captured: 6, evicted: 2, pending: 4 });
  });

  test('case 69: an opt-out in memory mode forgets what lies on the disk as well, counted, and nothing newer', async () => {
    const { world, store, openTab, tab: before } = await withStoredEvents();
    before.kill();
    store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
    const tab = openTab();
    await tab.capture('in memory');
    await tab.delivery.disable('purge');
    await tab.delivery.enable();
    await tab.capture('later');
    store.recover();
    tab.tell('visible');
    await world.clock.advance(10 * MINUTE_MS);
    expect(world.sent().at(-1)).toEqual(['later']);
    expect(world.service.events).toHaveLength(1);
    const diagnostics = await tab.delivery.diagnostics();
    expect(diagnostics).toMatchObject({ memoryMode: false, captured: 5, purged: 4, delivered: 1 });
    assertConserved(diagnostics);
  });

  test('case 69: a wipe in memory mode empties the disk as soon as it answers', async () => {
    const { world, store, openTab, tab: before } = await withStoredEvents();
    before.kill();
    store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
    const tab = openTab();
    await tab.capture('in memory');
    await tab.delivery.wipe();
    store.recover();
    await world.clock.advance(MINUTE_MS);
    expect(world.records()).toEqual([]);
    tab.kill();
    expect(await sentByTheNextPage(world, store)).toBe(0);
  });

  /** A tab that keeps an event in memory while another one wipes the disk, which answers again. */
  const wipedInMemory = async () => {
    const { world, store, openTab } = withFaultyStore();
    const other = world.openTab();
    await other.capture('stored');
    await other.delivery.flush();
    const tab = openTab();
    await tab.delivery.diagnostics();
    store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
    const lift = world.service.fail({ type: 'status', status: 503 }, { times: Number.POSITIVE_INFINITY });
    await tab.capture('in memory');
    await tab.delivery.flush();
    await other.delivery.wipe();
    await world.settle();
    lift();
    return { world, store, other, tab };
  };

  test('case 69: a wipe in another tab forgets what this one keeps in memory', async () => {
    const { world, store, tab } = await wipedInMemory();
    expect(await tab.delivery.diagnostics()).toMatchObject({ memoryMode: true, captured: 0, pending: 0 });
    store.recover();
    await world.clock.advance(2 * MINUTE_MS);
    expect(await tab.delivery.diagnostics()).toMatchObject({ memoryMode: false, captured: 0 });
    expect(world.records()).toEqual([]);
    tab.kill();
    expect(await sentByTheNextPage(world, store)).toBe(0);
  });

  test('case 69: also at any moment of the return from memory mode, and what was begun anew stays', async () => {
    for (let moment = 0; moment < 20; moment += 1) {
      const { world, store, openTab } = withFaultyStore();
      const other = world.openTab();
      await other.capture('stored');
      await other.delivery.flush();
      store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
      const tab = openTab({ options: { maxWaitMs: DAY_MS } });
      await tab.capture('in memory');
      store.recover();
      tab.tell('visible');
      for (let i = 0; i < moment; i += 1) await Promise.resolve();
      await other.delivery.wipe();
      await world.settle();
      await other.delivery.enable();
      await other.capture('anew');
      await world.clock.advance(2 * MINUTE_MS);
      expect(tab.noticesOf('memory-mode').map(({ on }) => on)).toEqual([true, false]);
      expect(world.sent(), `after ${moment} turns`).toEqual([['stored'], ['anew']]);
      expect(await other.delivery.diagnostics()).toMatchObject({ captured: 1, delivered: 1 });
    }
  });

  test('case 69: after such a wipe an opt-in begins anew in memory, and on the disk', async () => {
    const { world, store, tab } = await wipedInMemory();
    const before = world.service.requests.length;
    await tab.delivery.enable();
    await tab.capture('later');
    await tab.delivery.flush();
    store.recover();
    await world.clock.advance(2 * MINUTE_MS);
    expect(world.sent().slice(before)).toEqual([['later']]);
    expect(await tab.delivery.diagnostics()).toMatchObject({ memoryMode: false, captured: 1, delivered: 1 });
  });

  test('case 44: records of another version are neither read nor deleted', async () => {
    const world = createWorld();
    const store = world.disk.openStore(world.name);
    const foreign: [StoreKey, unknown][] = [
      [['control', 2, 'meta'], { v: 2, layout: 'unknown' }],
      [['event', 1, 5, 5], { v: 2, what: 'tomorrow in our place' }],
      [['event', 2, 1, 1], { v: 2, what: 'an event of tomorrow' }],
    ];
    await store.setMany(foreign);
    const tab = world.openTab();
    await tab.captureMany(3);
    await tab.delivery.flush();
    await world.clock.advance(10 * MINUTE_MS);
    expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 3, delivered: 3, pending: 0 });
    expect(world.records().filter(([, value]) => (value as { v: number }).v === 2)).toEqual(foreign);
  });

  test('case 46: a corrupt record is put aside alone', async () => {
    const world = createWorld();
    const first = world.openTab();
    await first.captureMany(3);
    first.kill();
    const store = world.disk.openStore(world.name);
    const [key] = world.records().find(([, value]) => (value as { bannerId?: string }).bannerId === 'b1')!;
    await store.setMany([[key, { v: 1, type: 'click', time: 'yesterday' }]]);
    const tab = world.openTab();
    await world.clock.advance(MINUTE_MS);
    expect(world.sent()).toEqual([['b0', 'b2']]);
    const diagnostics = await tab.delivery.diagnostics();
    expect(diagnostics).toMatchObject({ captured: 3, delivered: 2, evicted: 1, pending: 0 });
    assertConserved(diagnostics);
    expect(tab.noticesOf('failed')).toMatchObject([{ kind: 'storage' }]);
    expect(world.records().map(([recordKey]) => (recordKey as string[])[0])).toEqual([
      'control',
      'quarantine',
    ]);
  });

  test('case 46: a corrupt counter record is counted anew, and every event still leaves', async () => {
    const world = createWorld();
    const first = world.openTab();
    await first.captureMany(3);
    first.kill();
    await world.disk.openStore(world.name).setMany([[['control', 1, 'meta'], 'garbage']]);
    const tab = world.openTab();
    await tab.capture('b9');
    await world.clock.advance(MINUTE_MS);
    expect(world.sent().flat()).toEqual(['b0', 'b1', 'b2', 'b9']);
    const diagnostics = await tab.delivery.diagnostics();
    assertConserved(diagnostics);
    expect(diagnostics).toMatchObject({ captured: 4, delivered: 4, pending: 0 });
  });

  test.each([{ sender: undefined }, { sender: {} }, { consent: undefined }])(
    'case 46: a counter record with %j is counted anew, and every event still leaves',
    async (change) => {
      const world = createWorld();
      const first = world.openTab();
      await first.captureMany(3);
      first.kill();
      const store = world.disk.openStore(world.name);
      const key: StoreKey = ['control', 1, 'meta'];
      await store.setMany([[key, { ...(await store.get<object>(key)), ...change }]]);
      const tab = world.openTab();
      await tab.capture('b9');
      await world.clock.advance(MINUTE_MS);
      expect(world.sent().flat()).toEqual(['b0', 'b1', 'b2', 'b9']);
      assertConserved(await tab.delivery.diagnostics());
    },
  );

  test('case 48: where the quota is tiny the cap adapts to it', async () => {
    const { world, store, openTab } = withFaultyStore();
    const tab = openTab({ options: { maxBatch: 1_000, maxWaitMs: DAY_MS } });
    await tab.captureMany(40, 'click');
    store.fail({ type: 'reject', error: 'QuotaExceededError' }, { verbs: ['setMany'] });
    await tab.captureMany(10, 'click');
    await tab.captureMany(40, 'click');
    await world.settle();
    const diagnostics = await tab.delivery.diagnostics();
    assertConserved(diagnostics);
    expect(diagnostics.pending).toBeLessThanOrEqual(30);
    expect(tab.noticesOf('memory-mode')).toEqual([]);
  });

  test('caps by count evict impressions first, oldest first, and dismissals last', async () => {
    const world = createWorld();
    const tab = world.openTab({ options: { maxEvents: 20, maxWaitMs: DAY_MS } });
    await tab.captureMany(5, 'dismiss');
    await tab.captureMany(10, 'click');
    await tab.captureMany(10, 'impression');
    await world.settle();
    const dropped = tab.noticesOf('dropped');
    expect(dropped.map(({ event }) => `${event.type} ${event.bannerId}`)).toEqual(
      ['b0', 'b1', 'b2', 'b3', 'b4', 'b5'].map((id) => `impression ${id}`),
    );
    expect(dropped.every(({ reason }) => reason === 'evicted')).toBe(true);
    await tab.captureMany(18, 'dismiss');
    await world.settle();
    const diagnostics = await tab.delivery.diagnostics();
    assertConserved(diagnostics);
    expect(diagnostics.pending).toBeLessThanOrEqual(20);
    const kinds = world.records().map(([, value]) => (value as { type?: string }).type);
    expect(kinds.filter((type) => type === 'impression' || type === 'click')).toEqual([]);
  });

  test('caps by bytes hold as well', async () => {
    const world = createWorld();
    const tab = world.openTab({ options: { maxBytes: 10_000, maxBatch: 1_000, maxWaitMs: DAY_MS } });
    await tab.captureMany(200, 'impression');
    await world.settle();
    const size = JSON.stringify(world.records().filter(([key]) => (key as string[])[0] === 'event')).length;
    expect(size).toBeLessThanOrEqual(13_000);
    expect(size).toBeGreaterThan(6_000);
    assertConserved(await tab.delivery.diagnostics());
  });

  test('what is older than seven days expires, counted', async () => {
    const world = createWorld();
    const first = world.openTab();
    world.service.fail({ type: 'hang' });
    await first.captureMany(3);
    void first.delivery.flush();
    await world.settle();
    await first.captureMany(2, 'impression');
    first.kill();
    await world.clock.advance(8 * DAY_MS);
    const second = world.openTab();
    await world.settle();
    const diagnostics = await second.delivery.diagnostics();
    expect(diagnostics).toMatchObject({ captured: 5, expired: 5, pending: 0, inDoubt: 0 });
    assertConserved(diagnostics);
    expect(second.noticesOf('dropped').map(({ reason }) => reason)).toEqual(Array(5).fill('expired'));
  });
});
