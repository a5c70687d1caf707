// @vitest-environment node
import { expect, test } from 'vitest';
import type { StoreKey } from '../../../../src/client/platform/store.ts';
import { assertConserved, createFaultyStore } from '../../../../src/testing/index.ts';
import { createWorld, deafLink, type World } from '../world.ts';

const MINUTE_MS = 60_000;

const storedEvents = (world: World) =>
  world.records().filter(([key]) => (key as StoreKey[])[0] === 'event').length;

/** A page that exits, into the back/forward cache or for good, in the task of a click. */
const leaveWithAClick = async (setup = {}) => {
  const world = createWorld();
  const tab = world.openTab(setup);
  await tab.capture('before');
  await tab.delivery.flush();
  const clicked = tab.capture('out');
  tab.tell('hidden');
  tab.tell('pagehide');
  await world.settle();
  expect(storedEvents(world)).toBe(1);
  return { world, tab, clicked };
};

test('case 28: stores a click if the page unloads in the same task, and the next page sends it once', async () => {
  const { world, tab } = await leaveWithAClick();
  tab.kill();
  const next = world.openTab();
  await world.clock.advance(MINUTE_MS);
  const diagnostics = await next.delivery.diagnostics();
  expect(diagnostics).toMatchObject({ captured: 2, delivered: 2 });
  assertConserved(diagnostics);
  expect(world.service.events.filter(({ bannerId }) => bannerId === 'out')).toHaveLength(1);
});

test('case 28: stores a click if it is the first write of a profile', async () => {
  const world = createWorld();
  const tab = world.openTab();
  await world.settle();
  void tab.capture('out');
  tab.tell('pagehide');
  await world.settle();
  tab.kill();
  const next = world.openTab();
  await world.clock.advance(MINUTE_MS);
  expect(await next.delivery.diagnostics()).toMatchObject({ captured: 1, delivered: 1 });
});

test('case 28: stores a second click on page exit while the first write is suspended', async () => {
  const { world, tab, clicked } = await leaveWithAClick();
  const second = tab.capture('second');
  await world.settle();
  expect(storedEvents(world)).toBe(2);
  tab.tell('restored');
  tab.tell('visible');
  expect(await Promise.all([clicked, second])).toMatchObject([{ bannerId: 'out' }, { bannerId: 'second' }]);
  await world.clock.advance(MINUTE_MS);
  expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 3, delivered: 3 });
});

test('stores a click in one write without a previous read', async () => {
  const world = createWorld();
  const store = createFaultyStore(world.disk.openStore(world.name));
  const tab = world.openTab({ openStore: () => store });
  await world.settle();
  store.calls.length = 0;
  await tab.capture('click');
  expect(store.calls[0]).toBe('setMany');
});

test('a page that resumes late does not resend a click that another page has sent', async () => {
  const { world, tab, clicked } = await leaveWithAClick();
  const other = world.openTab();
  await world.clock.advance(MINUTE_MS);
  for (let i = 0; i < 20; i += 1) await other.capture(`more${i}`);
  tab.tell('restored');
  tab.tell('visible');
  expect(await clicked).toMatchObject({ bannerId: 'out' });
  await world.clock.advance(MINUTE_MS);
  const diagnostics = await tab.delivery.diagnostics();
  expect(diagnostics).toMatchObject({ captured: 22, delivered: 22 });
  expect(world.service.events.filter(({ bannerId }) => bannerId === 'out')).toMatchObject([{ copies: 1 }]);
});

test('does not keep a click after a purge or a wipe', async () => {
  for (const forget of ['purge', 'wipe'] as const) {
    const { world, tab } = await leaveWithAClick();
    tab.kill();
    const other = world.openTab();
    await (forget === 'wipe' ? other.delivery.wipe() : other.delivery.disable(forget));
    const next = world.openTab();
    await next.delivery.enable();
    await world.clock.advance(MINUTE_MS);
    expect(world.service.events.map(({ bannerId }) => bannerId)).not.toContain('out');
    expect(storedEvents(world)).toBe(0);
  }
});

test('case 40: a tab removes events and counted impressions that it stored before it received an opt-out', async () => {
  const world = createWorld();
  const [first, deaf] = [world.openTab(), world.openTab({ openChannel: deafLink })];
  await deaf.capture('before');
  await deaf.delivery.flush();
  await first.delivery.disable('keep');
  await world.clock.advance(1);
  const before = world.records();
  const impression = {
    type: 'impression',
    bannerId: 'b',
    placementId: 'p',
    userId: 'u1',
    dedupName: 's1 b',
  } as const;
  expect(await Promise.all([deaf.capture('click'), deaf.delivery.capture(impression)])).toEqual([null, null]);
  expect(world.records()).toEqual(before);
  expect(deaf.getNotices('tracked')).toHaveLength(1);
  expect(await deaf.capture('later')).toBeNull();
});

test('does not keep a click captured before a wipe in the same task, even if the page dies at any moment', async () => {
  for (let turns = 0; turns < 20; turns += 1) {
    const world = createWorld();
    const tab = world.openTab();
    await world.settle();
    void tab.capture('out');
    void tab.delivery.wipe();
    for (let i = 0; i < turns; i += 1) await Promise.resolve();
    tab.kill();
    world.openTab();
    await world.clock.advance(MINUTE_MS);
    expect(world.sent(), `after ${turns} turns`).toEqual([]);
  }
});

test('counts a click once if its write was committed but reported as failed, even while it stays in memory', async () => {
  const world = createWorld();
  const store = createFaultyStore(world.disk.openStore(world.name));
  const tab = world.openTab({ openStore: () => store });
  await tab.capture('warm');
  await tab.delivery.flush();
  const offline = world.service.fail({ type: 'status', status: 503 }, { times: Number.POSITIVE_INFINITY });
  store.fail({ type: 'lose-answer' }, { verbs: ['setMany'] });
  store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
  expect(await tab.capture('clicked')).not.toBeNull();
  expect(await tab.delivery.diagnostics()).toMatchObject({ memoryMode: true, captured: 1 });
  for (let i = 0; i < 20; i += 1) await tab.capture(`later${i}`, 'impression');
  store.recover();
  offline();
  tab.tell('visible');
  await world.clock.advance(10 * MINUTE_MS);
  const diagnostics = await tab.delivery.diagnostics();
  expect(diagnostics).toMatchObject({ memoryMode: false, captured: 22, delivered: 22 });
  assertConserved(diagnostics);
  expect(world.service.events.filter(({ bannerId }) => bannerId === 'clicked')).toMatchObject([
    { copies: 1 },
  ]);
});

test('keeps committed events for the next page if the page dies before it moves its memory to storage', async () => {
  const world = createWorld();
  const store = createFaultyStore(world.disk.openStore(world.name));
  const tab = world.openTab({ openStore: () => store });
  await tab.capture('warm');
  await tab.delivery.flush();
  store.fail({ type: 'lose-answer' }, { verbs: ['setMany'] });
  store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
  await tab.capture('clicked');
  tab.kill();
  world.openTab();
  await world.clock.advance(10 * MINUTE_MS);
  expect(world.service.events.map(({ bannerId }) => bannerId)).toEqual(['warm', 'clicked']);
});

test('keeps an event in memory if IndexedDB rejects it', async () => {
  const world = createWorld();
  const broken = new TypeError('the value cannot be cloned');
  const disk = world.disk.openStore(world.name);
  const tab = world.openTab({
    openStore: () => ({ ...disk, setMany: () => Promise.reject(broken), get: disk.get }),
    evictCache: async () => undefined,
  });
  // The disk rejects it, and memory accepts it: an event is lost only if both reject it.
  expect(await tab.capture()).not.toBeNull();
  expect(tab.getNotices('memory-mode')).toMatchObject([{ on: true, reason: broken.message }]);
});
