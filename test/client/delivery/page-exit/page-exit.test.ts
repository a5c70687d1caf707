// @vitest-environment node
import { expect, test } from 'vitest';
import { createFaultyStore } from '../../../../src/testing/index.ts';
import { createWorld } from '../world.ts';

const HOUR_MS = 60 * 60_000;
/** Nothing is due before the page hides. */
const QUIET = { options: { maxDelayMs: HOUR_MS } };

/** A page that has sent before, so no event is sent early. */
const openWarm = async (setup = {}) => {
  const world = createWorld();
  const tab = world.openTab({ ...QUIET, ...setup });
  await tab.capture('warm');
  await tab.delivery.flush();
  return { world, tab };
};

test('a flush counts events that an exit flush in progress delivers, and the next flush does not', async () => {
  const { world, tab } = await openWarm();
  world.service.fail({ type: 'slow', delayMs: 500 }, { times: 2 });
  for (const bannerId of ['first', 'second']) {
    await tab.capture(bannerId);
    tab.tell('hidden');
    await world.settle();
  }
  expect(world.sent()).toEqual([['warm'], ['first'], ['second']]);
  const flushed = tab.delivery.flush();
  await world.clock.advance(500);
  expect(await flushed).toEqual({ delivered: 2, pending: 0 });
  expect(await tab.delivery.flush()).toEqual({ delivered: 0, pending: 0 });
});

test('the next exit flush and the sender skip events that an exit flush has claimed', async () => {
  const { world, tab } = await openWarm();
  world.service.fail({ type: 'slow', delayMs: 500 });
  await tab.captureMany(3);
  tab.tell('hidden');
  tab.tell('pagehide');
  tab.tell('restored');
  void tab.delivery.flush();
  await world.clock.advance(1_000);
  expect(world.sent()).toEqual([['warm'], ['b0', 'b1', 'b2']]);
});

test('a page without a key leaves its events to the next page', async () => {
  const world = createWorld();
  const tab = world.openTab({ ...QUIET, apiKey: () => new Promise(() => undefined) });
  await tab.capture();
  tab.tell('hidden');
  await world.settle();
  tab.kill();
  expect(world.service.requests).toEqual([]);
  world.openTab();
  await world.clock.advance(HOUR_MS);
  expect(world.sent()).toEqual([['b1']]);
});

test('sends an exit flush even if its batches cannot be stored, and does not lose events', async () => {
  const world = createWorld();
  const store = createFaultyStore(world.disk.openStore(world.name));
  const tab = world.openTab({ ...QUIET, openStore: () => store });
  await world.settle();
  await tab.captureMany(3);
  store.fail({ type: 'reject', error: 'UnknownError' }, { verbs: ['setMany', 'update'], times: 2 });
  tab.tell('hidden');
  await world.settle();
  expect(world.service.events).toHaveLength(3);
  tab.tell('visible');
  await world.clock.advance(HOUR_MS);
  await tab.delivery.flush();
  expect(await tab.delivery.diagnostics()).toMatchObject({ pending: 0, inDoubt: 0 });
  expect(world.service.events).toHaveLength(3);
});

test('an exit flush skips at-most-once events, because another tab may have claimed them', async () => {
  const { world, tab } = await openWarm({
    options: { ...QUIET.options, guarantee: { click: 'at-most-once' as const } },
  });
  await tab.capture('once', 'click');
  await tab.capture('again', 'dismiss');
  tab.tell('hidden');
  await world.settle();
  expect(world.sent()).toEqual([['warm'], ['again']]);
  tab.kill();
  world.openTab();
  await world.clock.advance(HOUR_MS);
  expect(world.sent()).toEqual([['warm'], ['again'], ['once']]);
});

test('a page that exits while still visible uses keepalive, even after a keepalive failure', async () => {
  const { world, tab } = await openWarm();
  // The browser rejects the first keepalive request at once: a page that stays does not use keepalive for a minute.
  world.service.fail({ type: 'drop', when: 'before' });
  await tab.capture('refused');
  tab.tell('hidden');
  await world.settle();
  tab.tell('visible');
  await tab.delivery.flush();
  expect(world.options.at(-1)?.keepalive).toBe(false);
  await tab.capture('last');
  tab.tell('pagehide');
  await world.settle();
  expect(world.sent().at(-1)).toEqual(['last']);
  expect(world.options.at(-1)?.keepalive).toBe(true);
});

test('no other page claims events that an exiting page has just claimed, even if it has read them before', async () => {
  const world = createWorld();
  const disk = world.disk.openStore(world.name);
  const leaving = world.openTab(QUIET);
  await leaving.capture('mine');
  let isFirst = true;
  const sending = world.openTab({
    openStore: () => ({
      ...disk,
      async update(keys, change) {
        const takes = keys.some((key) => Array.isArray(key) && key[0] === 'event');
        if (takes && isFirst) {
          isFirst = false;
          leaving.tell('hidden');
          await world.settle();
        }
        return disk.update(keys, change);
      },
    }),
  });
  world.service.fail({ type: 'slow', delayMs: 1_000 });
  void sending.delivery.flush();
  await world.settle();
  expect(isFirst).toBe(false);
  await world.clock.advance(1_000);
  expect(world.sent()).toEqual([['mine']]);
  expect(await sending.delivery.diagnostics()).toMatchObject({ delivered: 1, pending: 0 });
});

test('case 25: resends both batches of a dropped exit flush unchanged', async () => {
  const { world, tab } = await openWarm({ options: { ...QUIET.options, maxBatchSize: 2 } });
  world.service.fail({ type: 'drop', when: 'after' }, { times: 2 });
  // The dismissal and the older click are sent first.
  await tab.capture('c1');
  await tab.capture('c2');
  await tab.capture('d1', 'dismiss');
  tab.tell('hidden');
  await world.settle();
  const [, ...dropped] = world.sent();
  expect(dropped).toEqual([['c1', 'd1'], ['c2']]);
  tab.tell('visible');
  await world.clock.advance(HOUR_MS);
  expect(world.sent().slice(3)).toEqual(dropped);
});
