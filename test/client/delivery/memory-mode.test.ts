// @vitest-environment node
import { expect, test } from 'vitest';
import { assertConserved, createFaultyStore } from '../../../src/testing/index.ts';
import { createFaultyWorld, deafLink } from './world.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

test('case 41: enters memory mode within two seconds if the store never opens, and still sends events', async () => {
  const { world, store, openTab } = createFaultyWorld();
  const lift = store.fail({ type: 'hang' }, { times: Number.POSITIVE_INFINITY });
  const tab = openTab();
  const captured = tab.capture('a');
  await world.clock.advance(2_000);
  expect(await captured).toMatchObject({ bannerId: 'a' });
  expect(tab.getNotices('memory-mode')).toMatchObject([
    { on: true, reason: expect.stringContaining('2000 ms') },
  ]);
  expect(await tab.delivery.diagnostics()).toMatchObject({ memoryMode: true, captured: 1 });
  await tab.delivery.flush();
  expect(world.sent()).toEqual([['a']]);
  lift();
});

test.each(['hang', 'wait'] as const)(
  'case 42: enters memory mode within ten seconds if the store hangs (%s), and counts every event once',
  async (type) => {
    const { world, store, openTab } = createFaultyWorld();
    const tab = openTab({ options: { maxDelayMs: DAY_MS } });
    await tab.capture('before');
    await tab.delivery.flush();
    const { promise: until, resolve: answer } = Promise.withResolvers<void>();
    store.fail({ type, until }, { times: Number.POSITIVE_INFINITY });
    const impression = {
      type: 'impression',
      bannerId: 'seen',
      placementId: 'p1',
      userId: 'u1',
      dedupName: 's',
    } as const;
    const captured = Promise.all([tab.capture('clicked'), tab.delivery.capture(impression)]);
    await world.clock.advance(30_000);
    expect(await captured).toMatchObject([{ bannerId: 'clicked' }, { bannerId: 'seen' }]);
    expect(await tab.delivery.diagnostics()).toMatchObject({ memoryMode: true });
    await tab.capture('later');
    await tab.delivery.flush();
    const names = ['before', 'clicked', 'later', 'seen'];
    expect(world.service.events.map(({ bannerId }) => bannerId).sort()).toEqual(names);
    store.recover();
    answer();
    await world.clock.advance(MINUTE_MS);
    await tab.delivery.flush();
    // A write that timed out may still commit: it is sent again, and the service deduplicates it.
    expect(world.service.events.map(({ bannerId }) => bannerId).sort()).toEqual(names);
    const diagnostics = await tab.delivery.diagnostics();
    expect(diagnostics).toMatchObject({ memoryMode: false, pending: 0, inDoubt: 0 });
    assertConserved(diagnostics);
  },
);

test('case 41: enters memory mode at once if the store fails to open, and moves its events to the store later', async () => {
  const { world, store, openTab } = createFaultyWorld();
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
  expect(tab.getNotices('memory-mode').map(({ on }) => on)).toEqual([true, false]);
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

test('case 41: a page in memory mode resends rejected events on exit, with the newer ones', async () => {
  const { world, store, openTab } = createFaultyWorld();
  store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
  const tab = openTab({ options: { maxDelayMs: DAY_MS } });
  world.service.fail({ type: 'status', status: 503 });
  await tab.capture('refused');
  await tab.delivery.flush();
  await tab.capture('since');
  tab.tell('hidden');
  tab.tell('pagehide');
  // On exit, a page runs only microtasks, and no further task.
  for (let turns = 0; turns < 200; turns += 1) await Promise.resolve();
  tab.kill();
  await world.settle();
  expect(world.service.events.map(({ bannerId }) => bannerId).sort()).toEqual(['refused', 'since']);
});

test('case 41: settles a request in flight during the return from memory mode in the real store', async () => {
  const { world, store, openTab } = createFaultyWorld();
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

/** Three events in memory, and a store that has recovered. */
const withEventsInMemory = async () => {
  const { world, store, openTab } = createFaultyWorld();
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

test('case 42: a return from memory mode that runs twice, or loses its response, does not lose or duplicate events', async () => {
  const { world, store, tab } = await withEventsInMemory();
  const { update } = store;
  // The platform's store retries once after a lost connection; here the test does.
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
  // An event that was moved twice was sent twice, and the service deduplicates it.
  expect(world.service.events).toHaveLength(4);
});

test('case 42: a return from memory mode that runs twice counts events delivered in memory once', async () => {
  const { world, store, openTab } = createFaultyWorld();
  store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
  const tab = openTab();
  await tab.captureMany(3);
  await tab.delivery.flush();
  store.recover();
  const { update } = store;
  let returns = 0;
  // The connection is lost after the commit, and the platform's store retries once.
  store.update = async (keys, change) => {
    await update(keys, change);
    returns += 1;
    return update(keys, change);
  };
  tab.tell('visible');
  await world.settle();
  store.update = update;
  expect(returns).toBeGreaterThan(0);
  const diagnostics = await tab.delivery.diagnostics();
  expect(diagnostics).toMatchObject({ memoryMode: false, captured: 3, delivered: 3 });
});

test('case 42: keeps newer events if the store fails again during the return from memory mode', async () => {
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

test('case 41: removes events captured in memory mode if the store has an opt-out', async () => {
  const { world, store, openTab } = createFaultyWorld();
  const before = world.openTab();
  await before.delivery.disable('keep');
  before.kill();
  await world.clock.advance(1);
  store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
  const tab = openTab({ options: { maxDelayMs: DAY_MS } });
  await tab.captureMany(3);
  store.recover();
  tab.tell('visible');
  await world.settle();
  const diagnostics = await tab.delivery.diagnostics();
  expect(diagnostics).toMatchObject({ captured: 3, purged: 3, pending: 0 });
  assertConserved(diagnostics);
  expect(await tab.capture()).toBeNull();
});

test('case 40: reports an opt-out of an earlier visit after memory mode, and keeps it in the next memory mode', async () => {
  const { world, store, openTab } = createFaultyWorld();
  const before = world.openTab();
  await before.capture('stored');
  await before.delivery.disable('keep');
  before.kill();
  const breakDisk = () =>
    store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
  breakDisk();
  const tab = openTab();
  expect(await tab.delivery.readConsent()).toBe(true);
  store.recover();
  tab.tell('visible');
  await world.settle();
  expect(await tab.delivery.readConsent()).toBe(false);
  expect(tab.getNotices('consent')).toEqual([{ type: 'consent', state: 'disabled' }]);
  breakDisk();
  expect(await tab.delivery.readConsent()).toBe(false);
  expect(await tab.capture()).toBeNull();
  expect(tab.getNotices('memory-mode').map(({ on }) => on)).toEqual([true, false, true]);
  expect(tab.getNotices('consent')).toHaveLength(1);
  expect(world.service.requests).toEqual([]);
});

test('case 40: applies an opt-out that was read before the log switches to memory', async () => {
  const { world, store, openTab } = createFaultyWorld();
  const before = world.openTab();
  await before.capture('stored');
  await before.delivery.disable('keep');
  before.kill();
  const tab = openTab();
  expect(await tab.delivery.readConsent()).toBe(false);
  store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
  expect(await tab.delivery.diagnostics()).toMatchObject({ memoryMode: true });
  expect(await tab.capture()).toBeNull();
  expect(await tab.delivery.readConsent()).toBe(false);
  expect(tab.getNotices('consent')).toEqual([{ type: 'consent', state: 'disabled' }]);
});

/** Opted out on disk, and opted in again in memory a minute later. */
const withOptInInMemory = async (setup = {}) => {
  const { world, store, openTab } = createFaultyWorld();
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

test('case 69: keeps an opt-in in memory mode as the latest choice when storage recovers', async () => {
  const { world, store, other, tab } = await withOptInInMemory();
  other.kill();
  store.recover();
  tab.tell('visible');
  await world.clock.advance(10 * MINUTE_MS);
  expect(await tab.capture('after')).not.toBeNull();
  await world.clock.advance(MINUTE_MS);
  expect(tab.getNotices('consent')).toEqual([{ type: 'consent', state: 'enabled' }]);
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
  ['the channel tells of', {}, 'keep', { pending: 2, purged: 0 }],
  ['the channel tells of', {}, 'purge', { pending: 0, purged: 2 }],
  ['nothing tells of', { openChannel: deafLink }, 'keep', { pending: 2, purged: 0 }],
  ['nothing tells of', { openChannel: deafLink }, 'purge', { pending: 0, purged: 2 }],
] as const)(
  'case 69: a later opt-out that %s overrides an opt-in in memory mode (%o, %s)',
  async (_, setup, policy, left) => {
    const { world, store, other, tab } = await withOptInInMemory(setup);
    await other.delivery.disable(policy);
    store.recover();
    tab.tell('visible');
    await world.clock.advance(10 * MINUTE_MS);
    expect(await tab.delivery.readConsent()).toBe(false);
    expect(await other.delivery.diagnostics()).toMatchObject({ captured: 2, ...left });
    expect(world.service.events).toEqual([]);
  },
);

test('case 69: a later opt-out from another tab overrides an opt-in in memory mode as well', async () => {
  const { world, store, other, tab } = await withOptInInMemory();
  other.kill();
  const broken = createFaultyStore(world.disk.openStore(world.name));
  broken.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
  await world.openTab({ openStore: () => broken }).delivery.disable('keep');
  await world.settle();
  store.recover();
  tab.tell('visible');
  await world.clock.advance(10 * MINUTE_MS);
  expect(await world.openTab().delivery.readConsent()).toBe(false);
  expect(world.service.events).toEqual([]);
});

test('case 69: an opt-in from another tab overrides an earlier opt-out in memory mode', async () => {
  const { world, store, openTab } = createFaultyWorld();
  store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
  // The tabs cannot communicate: only the disk holds the latest choice.
  const tab = openTab({ openChannel: deafLink });
  await tab.delivery.disable('keep');
  await world.clock.advance(MINUTE_MS);
  const other = world.openTab({ openChannel: deafLink });
  await other.delivery.disable('keep');
  await other.delivery.enable();
  store.recover();
  tab.tell('visible');
  await world.clock.advance(10 * MINUTE_MS);
  expect(await world.openTab().delivery.readConsent()).toBe(true);
});
