// @vitest-environment node
import { expect, test } from 'vitest';
import type { StoreKey } from '../../../src/client/platform/store.ts';
import { assertConserved, type Fault } from '../../../src/testing/index.ts';
import { createWorld } from './world.ts';

const MINUTE_MS = 60_000;

/** A page's three events, and what `damage` makes of the batch that they are part of. */
const withBatch = async (damage: object, fault: Fault = { type: 'status', status: 503 }) => {
  const world = createWorld();
  const first = world.openTab();
  const lift = world.service.fail(fault);
  await first.captureMany(3);
  await first.delivery.flush();
  first.kill();
  lift();
  const disk = world.disk.openStore(world.name);
  const [key, batch] = world.records().find(([stored]) => (stored as StoreKey[])[2] === 'batch')!;
  await disk.setMany([[key, { ...(batch as object), ...damage }]]);
  return { world, key };
};

test.each([
  { keys: [5] },
  { keys: [null] },
  { keys: [['event', 1, 'yesterday', 'tab', 1]] },
  { keys: [['event', 1, 5, 5, 1]] },
  { keys: [] },
  { until: null },
  { splits: undefined },
  { id: 'another' },
])('case 46: a batch corrupt by %j is given up, and its events leave without it, once', async (damage) => {
  const { world } = await withBatch(damage);
  const tab = world.openTab();
  await tab.capture('later');
  await world.clock.advance(10 * MINUTE_MS);
  expect(world.service.events.map(({ bannerId }) => bannerId)).toEqual(['b0', 'b1', 'b2', 'later']);
  const diagnostics = await tab.delivery.diagnostics();
  expect(diagnostics).toMatchObject({ captured: 4, delivered: 4, evicted: 0 });
  assertConserved(diagnostics);
  expect(tab.noticesOf('failed')).toMatchObject([{ kind: 'storage' }]);
  expect(world.records().map(([stored]) => (stored as string[])[0])).toEqual(['control']);
});

test('case 46: events that the service has taken already count once, though their batch is corrupt', async () => {
  const { world } = await withBatch({ keys: [] }, { type: 'drop', when: 'after' });
  expect(world.service.events).toHaveLength(3);
  world.openTab();
  await world.clock.advance(10 * MINUTE_MS);
  expect(world.service.events.map(({ copies }) => copies)).toEqual([2, 2, 2]);
});

test('case 44: a batch of a newer version in our place stays where it is', async () => {
  const { world, key } = await withBatch({ v: 2, keys: 'other' });
  const tab = world.openTab();
  await world.clock.advance(10 * MINUTE_MS);
  expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 3, delivered: 3 });
  expect(await world.disk.openStore(world.name).get(key)).toMatchObject({ v: 2 });
});

/** A page's three events, and where and what the second of them is on the disk. */
const withEvents = async () => {
  const world = createWorld();
  const first = world.openTab();
  await first.captureMany(3);
  first.kill();
  const [key, event] = world
    .records()
    .find(([, value]) => (value as { bannerId?: string }).bannerId === 'b1')!;
  return { world, disk: world.disk.openStore(world.name), key, event };
};

test.each([{ time: 1e300 }, { time: null }])(
  'case 46: an event corrupt by %j is put aside alone, as no request could name its time',
  async (damage) => {
    const { world, disk, key, event } = await withEvents();
    await disk.setMany([[key, { ...(event as object), ...damage }]]);
    const tab = world.openTab();
    await world.clock.advance(MINUTE_MS);
    expect(world.sent()).toEqual([['b0', 'b2']]);
    assertConserved(await tab.delivery.diagnostics());
  },
);

test('case 46: an event under a key that is none is put aside alone', async () => {
  const { world, disk, key, event } = await withEvents();
  const odd = ['event', 1, 'yesterday', 'tab', 1];
  await disk.setMany([
    [key, undefined],
    [odd, event],
  ]);
  const tab = world.openTab();
  await world.clock.advance(MINUTE_MS);
  expect(world.sent()).toEqual([['b0', 'b2']]);
  const diagnostics = await tab.delivery.diagnostics();
  expect(diagnostics).toMatchObject({ captured: 3, delivered: 2, evicted: 1, pending: 0 });
});
