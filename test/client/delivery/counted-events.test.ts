// @vitest-environment node
import { expect, test } from 'vitest';
import { dedupKey } from '../../../src/client/delivery/log/records.ts';
import { assertConserved, createFaultyStore } from '../../../src/testing/index.ts';
import { createFaultyWorld, createWorld, deafLink } from './world.ts';

const impression = (dedupName: string) =>
  ({ type: 'impression', bannerId: 'b', placementId: 'p', userId: 'u1', dedupName }) as const;

test('stores a named event once in one task, in two tabs and after a crash', async () => {
  const world = createWorld();
  const [a, b] = [world.openTab(), world.openTab()];
  const stored = await Promise.all([
    a.delivery.capture(impression('s1 b')),
    a.delivery.capture(impression('s1 b')),
    b.delivery.capture(impression('s1 b')),
  ]);
  expect(stored.filter(Boolean)).toHaveLength(1);
  await a.delivery.flush();
  a.kill();
  const next = world.openTab();
  expect(await next.delivery.capture(impression('s1 b'))).toBeNull();
  expect(await next.delivery.capture(impression('s2 b'))).not.toBeNull();
  expect(await next.delivery.capture(impression('s2 b'))).toBeNull();
  await next.delivery.flush();
  const diagnostics = await next.delivery.diagnostics();
  expect(diagnostics).toMatchObject({ captured: 2, delivered: 2 });
  assertConserved(diagnostics);
});

test('an event that was counted before does not wake the sender', async () => {
  const world = createWorld();
  const { delivery } = world.openTab();
  await delivery.capture(impression('s1 b'));
  await delivery.flush();
  const timers = world.clock.pending();
  expect(await delivery.capture(impression('s1 b'))).toBeNull();
  expect(world.clock.pending()).toBe(timers);
});

test('returns a separate result for each event stored with a counted event', async () => {
  const world = createWorld();
  const { delivery } = world.openTab();
  await delivery.capture(impression('s1 b'));
  const click = { ...impression('s1 b'), type: 'click', dedupName: undefined } as never;
  const [first, second, third] = await Promise.all([
    delivery.capture(click),
    delivery.capture(impression('s1 b')),
    delivery.capture(click),
  ]);
  expect([first?.type, second, third?.type]).toEqual(['click', null, 'click']);
});

test('merges the counts of memory mode and IndexedDB once storage is back', async () => {
  const world = createWorld();
  const onDisk = world.openTab();
  await onDisk.delivery.capture(impression('s1 disk'));
  const store = createFaultyStore(world.disk.openStore(world.name));
  store.fail({ type: 'reject', error: 'InvalidStateError' }, { times: Number.POSITIVE_INFINITY });
  const tab = world.openTab({ openStore: () => store });
  expect(await tab.delivery.capture(impression('s1 memory'))).not.toBeNull();
  expect(await tab.delivery.diagnostics()).toMatchObject({ memoryMode: true });
  store.recover();
  tab.tell('visible');
  await world.settle();
  expect(await tab.delivery.diagnostics()).toMatchObject({ memoryMode: false, captured: 2 });
  for (const each of [onDisk, tab]) {
    expect(await each.delivery.capture(impression('s1 disk'))).toBeNull();
    expect(await each.delivery.capture(impression('s1 memory'))).toBeNull();
  }
});

test('delivers an event once if one tab counted it in IndexedDB and another tab in memory', async () => {
  const world = createWorld();
  const onDisk = world.openTab();
  const store = createFaultyStore(world.disk.openStore(world.name));
  store.fail({ type: 'reject', error: 'InvalidStateError' }, { times: Number.POSITIVE_INFINITY });
  const tab = world.openTab({ openStore: () => store });
  await onDisk.delivery.capture(impression('s1 b'));
  await tab.delivery.capture(impression('s1 b'));
  await tab.delivery.capture(impression('s1 other'));
  store.recover();
  tab.tell('visible');
  await world.settle();
  await tab.delivery.flush();
  const diagnostics = await tab.delivery.diagnostics();
  expect(diagnostics).toMatchObject({ memoryMode: false, captured: 2, delivered: 2 });
  assertConserved(diagnostics);
});

test('a wipe removes the deduplication marks', async () => {
  const world = createWorld();
  const tab = world.openTab();
  await tab.delivery.capture(impression('s1 b'));
  await tab.delivery.wipe();
  expect(world.records()).toEqual([]);
});

test('an opt-out that this page missed does not remove deduplication marks of another tab', async () => {
  const world = createWorld();
  const [a, b] = [world.openTab({ openChannel: deafLink }), world.openTab({ openChannel: deafLink })];
  await a.delivery.capture(impression('s1 b'));
  await a.delivery.disable('keep');
  expect(await b.delivery.capture(impression('s1 b'))).toBeNull();
  await a.delivery.enable();
  expect(await a.delivery.capture(impression('s1 b'))).toBeNull();
});

test('case 46: a corrupt mark does not lose its event or the next one, and does not block requests', async () => {
  const world = createWorld();
  await world.disk.openStore(world.name).setMany([
    [dedupKey('s1 b'), null],
    [dedupKey('s1 old'), 'damaged'],
  ]);
  const tab = world.openTab();
  const click = { ...impression('s1 b'), type: 'click', dedupName: undefined } as never;
  const stored = await Promise.all([tab.delivery.capture(click), tab.delivery.capture(impression('s1 b'))]);
  expect(stored.map((event) => event?.type)).toEqual(['click', 'impression']);
  expect(await tab.delivery.flush()).toEqual({ delivered: 2, pending: 0 });
  expect(tab.getNotices('failed')).toEqual([]);
  await world.clock.advance(61 * 60_000);
  await tab.delivery.flush();
  expect(world.records().map(([key]) => String(key))).not.toContain(String(dedupKey('s1 old')));
});

test('an impression that cannot be stored does not affect clicks or later impressions', async () => {
  const { world, store, openTab } = createFaultyWorld();
  const tab = openTab();
  await world.settle();
  const [click, lost, kept] = [
    tab.capture('clicked'),
    tab.delivery.capture(impression('s1 lost')),
    tab.delivery.capture(impression('s1 kept')),
  ];
  const { update } = store;
  let fails = 1;
  // An update function that throws does not indicate a store failure: memory mode would not help.
  store.update = (keys, change) =>
    update<never>(keys, (values) => {
      fails -= 1;
      return change(fails < 0 ? values : (undefined as never));
    });
  expect((await Promise.all([click, lost, kept])).map((event) => event?.type)).toEqual([
    'click',
    undefined,
    'impression',
  ]);
  expect(tab.getNotices('failed')).toMatchObject([{ kind: 'storage' }]);
  await world.clock.advance(10_000);
  expect(world.service.events).toHaveLength(2);
});

test('keeps the counted marks of a session even if events are kept for a shorter time', async () => {
  const world = createWorld();
  const options = { maxAgeMs: 10 * 60_000 };
  const first = world.openTab({ options });
  await first.delivery.capture(impression('s1 b'));
  await first.delivery.flush();
  first.kill();
  await world.clock.advance(15 * 60_000);
  const second = world.openTab({ options });
  await world.settle();
  expect(await second.delivery.capture(impression('s1 b'))).toBeNull();
});
