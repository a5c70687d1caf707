// @vitest-environment node
import { expect, test } from 'vitest';
import { assertConserved, type FaultyStore } from '../../../src/testing/index.ts';
import { createFaultyWorld, createTroubleSwitch, deafLink, type World } from './world.ts';

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

/** Three events on disk, which then fails, and one in the memory of a new page. */
const withEventsInMemory = async () => {
  const { world, store, openTab, tab: before } = await withStoredEvents();
  before.kill();
  store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
  const tab = openTab();
  await tab.capture('in memory');
  return { world, store, tab };
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
  const { world, store, tab } = await withEventsInMemory();
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
  const { world, store, tab } = await withEventsInMemory();
  await tab.delivery.wipe();
  store.recover();
  await world.clock.advance(MINUTE_MS);
  expect(world.records()).toEqual([]);
  tab.kill();
  expect(await sentByTheNextPage(world, store)).toBe(0);
});

test('case 69: a wipe in memory mode runs when IndexedDB responds, even after the client has stopped', async () => {
  const { world, store, tab } = await withEventsInMemory();
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
    expect(tab.getNotices('memory-mode').map(({ on }) => on)).toEqual([true, false]);
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

/** A tab in memory mode that cannot load the trouble chunk until `allow`. Three events of an earlier visit are on disk. */
const withoutTroubleChunk = async () => {
  const { world, store, openTab, tab: before } = await withStoredEvents();
  before.kill();
  store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
  const chunk = createTroubleSwitch(true);
  const tab = openTab({ loadTrouble: chunk.load });
  const lift = world.service.fail({ type: 'status', status: 503 }, { times: Number.POSITIVE_INFINITY });
  await tab.capture('in memory');
  await world.settle();
  const allow = (): void => {
    chunk.allow();
    lift();
  };
  return { world, store, openTab, tab, allow };
};

test.each(['keep', 'purge', 'wipe'] as const)(
  'without the trouble chunk, %s in memory mode reaches the disk as soon as it works again',
  async (decision) => {
    const { world, store, tab } = await withoutTroubleChunk();
    await (decision === 'wipe' ? tab.delivery.wipe() : tab.delivery.disable(decision));
    store.recover();
    await world.clock.advance(MINUTE_MS);
    const isDiscarding = decision === 'purge' || decision === 'wipe';
    const kinds = world.records().map(([key]) => (key as string[])[0]);
    expect(kinds.filter((kind) => kind === 'event')).toHaveLength(isDiscarding ? 0 : 3);
    if (decision === 'wipe') expect(kinds).toEqual([]);
    else expect(world.state()).toMatchObject({ consent: decision === 'purge' ? 'disabled' : decision });
    tab.kill();
    const before = world.service.events.length;
    const next = world.openTab();
    await world.clock.advance(10 * MINUTE_MS);
    expect(await next.delivery.readConsent()).toBe(decision === 'wipe');
    expect(world.service.events.length - before).toBe(0);
  },
);

test('without the trouble chunk, keeps the events in memory for the disk after an opt-out (keep) reached it', async () => {
  const { world, store, tab, allow } = await withoutTroubleChunk();
  // The event counts as captured before the opt-out, regardless of the clock.
  world.clock.jump(-MINUTE_MS / 2);
  await tab.delivery.disable('keep');
  store.recover();
  await world.clock.advance(MINUTE_MS);
  expect(world.state()).toMatchObject({ consent: 'keep' });
  allow();
  await world.clock.advance(MINUTE_MS);
  expect(await tab.delivery.diagnostics()).toMatchObject({ memoryMode: false, pending: 4, purged: 0 });
});

test('without the trouble chunk, an earlier purge keeps events captured after a later opt-in in another tab', async () => {
  const { world, store, openTab, tab } = await withoutTroubleChunk();
  await tab.delivery.disable('purge');
  await world.clock.advance(1);
  const other = world.openTab({ openChannel: deafLink, options: { maxDelayMs: DAY_MS } });
  await other.delivery.enable();
  await world.clock.advance(1);
  await other.capture('later');
  store.recover();
  await world.clock.advance(MINUTE_MS);
  expect(world.state()).toMatchObject({ consent: 'enabled' });
  tab.kill();
  const next = openTab();
  expect((await next.delivery.queued('u1')).map(({ bannerId }) => bannerId)).toEqual(['later']);
});

test('an opt-out (keep) in memory mode reaches the disk even after the client has stopped', async () => {
  const { world, store, tab } = await withEventsInMemory();
  await tab.delivery.disable('keep');
  tab.delivery.stop();
  await world.clock.advance(5 * MINUTE_MS);
  store.recover();
  await world.clock.advance(MINUTE_MS);
  expect(world.state()).toMatchObject({ consent: 'keep' });
  expect(world.clock.pending()).toBe(0);
});

test('a purge removes stored events even if the disk fails at any moment of it', async () => {
  for (let moment = 0; moment < 60; moment += 1) {
    const { world, store, tab } = await withStoredEvents();
    const disabled = tab.delivery.disable('purge');
    for (let i = 0; i < moment; i += 1) await Promise.resolve();
    store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
    await world.settle();
    await disabled;
    store.recover();
    await world.clock.advance(MINUTE_MS);
    tab.kill();
    expect(await sentByTheNextPage(world, store), `after ${moment} turns`).toBe(0);
  }
});

test('a purge in memory mode reaches a full disk that rejects an earlier opt-out (keep)', async () => {
  const { world, store, tab } = await withStoredEvents();
  store.fail(
    { type: 'reject', error: 'QuotaExceededError' },
    { verbs: ['update', 'setMany'], times: Number.POSITIVE_INFINITY },
  );
  await tab.delivery.disable('keep');
  await tab.delivery.disable('purge');
  await world.clock.advance(MINUTE_MS);
  expect(world.records().filter(([key]) => (key as string[])[0] === 'event')).toEqual([]);
});

test('a wipe in memory mode replaces the earlier decisions that the disk lacks', async () => {
  const { world, store, tab } = await withStoredEvents();
  store.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
  await tab.delivery.disable('keep');
  await tab.delivery.wipe();
  store.recover();
  store.fail({ type: 'reject', error: 'QuotaExceededError' }, { verbs: ['update'] });
  await world.clock.advance(2 * MINUTE_MS);
  expect(world.records()).toEqual([]);
});
