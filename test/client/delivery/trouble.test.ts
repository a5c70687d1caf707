// @vitest-environment node
import { expect, onTestFinished, test, vi } from 'vitest';
import { createTrouble } from '../../../src/client/delivery/trouble/trouble.ts';
import { createWorkerHandoff } from '../../../src/client/delivery/worker-handoff.ts';
import type { StoreKey } from '../../../src/client/platform/store.ts';
import { createFaultyStore } from '../../../src/testing/index.ts';
import { createWorld, type TabSetup } from './world.ts';

/** A tab whose trouble chunk can be loaded when the test says so. */
const openTab = (setup: TabSetup = {}, world = createWorld()) => {
  const chunk = { isAvailable: false };
  const loadTrouble = vi.fn(async () => {
    if (!chunk.isAvailable) throw new TypeError('Failed to fetch dynamically imported module');
    return { createTrouble, createWorkerHandoff };
  });
  return { world, chunk, loadTrouble, tab: world.openTab({ ...setup, loadTrouble }) };
};

test('does not load the trouble chunk on an ordinary visit', async () => {
  const { world, tab, loadTrouble } = openTab();
  await tab.captureMany(60);
  expect(await tab.delivery.flush()).toEqual({ delivered: 60, pending: 0 });
  tab.tell('hidden');
  await world.clock.advance(60_000);
  expect(loadTrouble).not.toHaveBeenCalled();
  expect(world.state()).toMatchObject({ delivered: 60 });
});

test('without the trouble chunk, a response other than 202 keeps the log and does not cause an immediate request', async () => {
  const { world, tab, chunk } = openTab();
  world.service.fail({ type: 'status', status: 503 }, { times: Number.POSITIVE_INFINITY });
  await tab.captureMany(3);
  await world.clock.advance(60_000);
  const tries = world.service.requests.length;
  expect(tries).toBeGreaterThan(0);
  expect(tries).toBeLessThan(5);
  expect(tab.getNotices('failed').map(({ kind }) => kind)).toContain('chunk-load');
  world.service.recover();
  chunk.isAvailable = true;
  await world.clock.advance(120_000);
  expect(await tab.delivery.diagnostics()).toMatchObject({
    captured: 3,
    delivered: 3,
    pending: 0,
    inDoubt: 0,
  });
  expect(world.service.events.map(({ copies }) => copies)).toEqual([1, 1, 1]);
});

test('without the trouble chunk, delivers the events of other batches', async () => {
  const { world, tab } = openTab();
  world.service.fail({ type: 'status', status: 400, body: { message: 'no' } });
  await tab.captureMany(2, 'click', 'u1');
  await world.clock.advance(10_000);
  expect(world.service.events).toEqual([]);
  await tab.captureMany(2, 'click', 'u2');
  await world.clock.advance(120_000);
  expect(world.service.events.map(({ userId }) => userId)).toEqual(['u2', 'u2']);
  expect(await tab.delivery.queued('u1')).toHaveLength(2);
});

test('without the trouble chunk, delivers events beside a damaged record, which stays', async () => {
  const { world, tab, chunk } = openTab();
  const damaged: [StoreKey, unknown] = [['event', 1, 5, 'tab', 1], { v: 1, type: 'click' }];
  await world.disk.openStore(world.name).setMany([damaged]);
  await tab.captureMany(2);
  await world.clock.advance(120_000);
  expect(world.service.events).toHaveLength(2);
  expect(world.records()).toContainEqual(damaged);
  chunk.isAvailable = true;
  await tab.captureMany(1);
  await world.clock.advance(120_000);
  expect(world.records()).not.toContainEqual(damaged);
  expect(await tab.delivery.diagnostics()).toMatchObject({
    captured: 4,
    delivered: 3,
    evicted: 1,
    pending: 0,
  });
});

test('without the trouble chunk, an opt-out purges stored events', async () => {
  const { world, tab } = openTab();
  world.service.fail({ type: 'drop', when: 'before' }, { times: Number.POSITIVE_INFINITY });
  await tab.captureMany(3);
  await tab.delivery.disable('purge');
  expect(world.records().filter(([key]) => [key].flat()[0] === 'event')).toEqual([]);
  expect(world.state()).toMatchObject({ consent: 'disabled' });
});

test('without the trouble chunk, a full disk moves the log to memory', async () => {
  const world = createWorld();
  const store = createFaultyStore(world.disk.openStore(world.name));
  const { tab } = openTab({ openStore: () => store }, world);
  await tab.capture('first');
  store.fail({ type: 'reject', error: 'QuotaExceededError' }, { times: Number.POSITIVE_INFINITY });
  expect(await tab.capture('second')).toMatchObject({ bannerId: 'second' });
  expect(tab.getNotices('memory-mode')).toMatchObject([{ on: true }]);
});

test('without the trouble chunk, keeps an at-most-once event whose request was never sent', async () => {
  const network = { onLine: false };
  vi.stubGlobal('navigator', network);
  onTestFinished(() => void vi.unstubAllGlobals());
  const { world, tab, chunk } = openTab({ options: { guarantee: { click: 'at-most-once' } } });
  world.service.fail({ type: 'drop', when: 'before' }, { times: Number.POSITIVE_INFINITY });
  await tab.captureMany(2);
  await world.clock.advance(60_000);
  world.service.recover();
  chunk.isAvailable = true;
  network.onLine = true;
  await world.clock.advance(120_000);
  expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 2, discarded: 0 });
});
