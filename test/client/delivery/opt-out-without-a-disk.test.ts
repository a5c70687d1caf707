// @vitest-environment node
import { expect, test } from 'vitest';
import { assertConserved, type FaultyStore } from '../../../src/testing/index.ts';
import { createFaultyWorld, type World } from './world.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Three events on disk that the next page must not send. */
const withStoredEvents = async () => {
  const { world, store, openTab } = createFaultyWorld();
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
  'case 69: an opt-out removes the events despite a full disk (%d times)',
  async (times) => {
    const { world, store, tab } = await withStoredEvents();
    store.fail({ type: 'reject', error: 'QuotaExceededError' }, { verbs: ['update'], times });
    await tab.delivery.disable('purge');
    await world.settle();
    expect(await tab.delivery.readConsent()).toBe(false);
    tab.kill();
    expect(await sentByTheNextPage(world, store)).toBe(0);
  },
);

test('case 69: a full disk does not prevent an opt-out (keep) or remove the clicks that it keeps', async () => {
  const { world, store, tab } = await withStoredEvents();
  await tab.captureMany(3, 'impression');
  store.fail({ type: 'reject', error: 'QuotaExceededError' }, { verbs: ['update'], times: 2 });
  await tab.delivery.disable('keep');
  tab.kill();
  const next = world.openTab();
  await world.clock.advance(10 * MINUTE_MS);
  expect(await next.delivery.readConsent()).toBe(false);
  expect(await next.delivery.diagnostics()).toMatchObject({ captured: 6, evicted: 3, pending: 3 });
});

test('case 69: an opt-out in memory mode also removes stored events, but not newer ones', async () => {
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
  expect(diagnostics).toMatchObject({ memoryMode: false, captured: 2, purged: 1, delivered: 1 });
  assertConserved(diagnostics);
});

test('case 69: a wipe in memory mode clears IndexedDB as soon as it responds', async () => {
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

test('case 69: a wipe in memory mode runs when IndexedDB responds, even after the client has stopped', async () => {
  const { world, store, openTab, tab: before } = await withStoredEvents();
  before.kill();
  store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
  const tab = openTab();
  await tab.capture('in memory');
  await tab.delivery.wipe();
  tab.delivery.stop();
  await world.clock.advance(5 * MINUTE_MS);
  store.recover();
  await world.clock.advance(MINUTE_MS);
  expect(world.records()).toEqual([]);
  expect(world.clock.pending()).toBe(0);
});

/** A tab with an event in memory, while another one wipes the disk, which responds again. */
const wipedInMemory = async () => {
  const { world, store, openTab } = createFaultyWorld();
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

test('case 69: a wipe in another tab removes the events in the memory of this tab', async () => {
  const { world, store, tab } = await wipedInMemory();
  expect(await tab.delivery.diagnostics()).toMatchObject({ memoryMode: true, captured: 0, pending: 0 });
  store.recover();
  await world.clock.advance(2 * MINUTE_MS);
  expect(await tab.delivery.diagnostics()).toMatchObject({ memoryMode: false, captured: 0 });
  expect(world.records()).toEqual([]);
  tab.kill();
  expect(await sentByTheNextPage(world, store)).toBe(0);
});

/** A tab with an event in memory, whose disk has recovered, and another one that has delivered an event from disk. */
const aTabThatMayReturn = async () => {
  const { world, store, openTab } = createFaultyWorld();
  const other = world.openTab();
  await other.capture('stored');
  await other.delivery.flush();
  store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
  const tab = openTab({ options: { maxDelayMs: DAY_MS } });
  await tab.capture('in memory');
  store.recover();
  return { world, store, other, tab };
};

test('case 69: a wipe at any moment of the return from memory mode does not remove later events', async () => {
  for (let moment = 0; moment < 20; moment += 1) {
    const { world, other, tab } = await aTabThatMayReturn();
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

test('case 69: a wipe in another tab also applies to a return from memory mode in progress', async () => {
  const { world, store, other, tab } = await aTabThatMayReturn();
  const { promise: until, resolve } = Promise.withResolvers<void>();
  store.fail({ type: 'wait', until }, { verbs: ['update'] });
  tab.tell('visible');
  await world.settle();
  await other.delivery.wipe();
  await world.settle();
  resolve();
  await world.settle();
  expect(world.records()).toEqual([]);
});

test('case 69: an opt-in after a wipe in memory mode starts with an empty log in memory and storage', async () => {
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
