// @vitest-environment node
import { describe, expect, test } from 'vitest';
import { isClaim } from '../../../src/client/delivery/log/records.ts';
import { createNotices } from '../../../src/client/notices.ts';
import {
  assertConserved,
  assertDeliveredExactlyOnce,
  assertDeliveredInOrder,
} from '../../../src/testing/index.ts';
import { createWorld, type World } from './world.ts';

const MINUTE_MS = 60_000;

/** A page that has sent before; when it removes its claim, its disk responds after `releasing`. */
const openReleasing = async (world: World, releasing: () => Promise<unknown>) => {
  const store = world.disk.openStore(world.name);
  const isMarked = () => world.records().some(([, record]) => isClaim(record));
  let isWarm = false;
  const tab = world.openTab({
    openStore: () => ({
      ...store,
      async update(keys, change) {
        const before = isMarked();
        await store.update(keys, change);
        if (isWarm && before && !isMarked()) await releasing();
      },
    }),
  });
  await tab.capture('warm');
  await tab.delivery.flush();
  isWarm = true;
  return tab;
};

describe('buffer and crash', () => {
  test('case 1: a captured event survives the renderer and is sent exactly once by the next page', async () => {
    const world = createWorld();
    const first = world.openTab();
    const event = await first.capture('b1', 'impression');
    first.kill();
    const second = world.openTab();
    await world.clock.advance(MINUTE_MS);
    assertDeliveredExactlyOnce(world.service.events, [event!]);
    expect(world.service.requests).toHaveLength(1);
    expect(await second.delivery.diagnostics()).toMatchObject({ captured: 1, delivered: 1 });
  });

  test('case 2: a capture whose promise never resolved is stored once or not at all', async () => {
    for (let rounds = 0; rounds < 12; rounds += 1) {
      const world = createWorld();
      const first = world.openTab();
      void first.capture('b1');
      for (let i = 0; i < rounds; i += 1) await Promise.resolve();
      first.kill();
      const second = world.openTab();
      await world.clock.advance(MINUTE_MS);
      expect(world.service.events.length).toBeLessThanOrEqual(1);
      const diagnostics = await second.delivery.diagnostics();
      expect(diagnostics.captured).toBe(world.service.events.length);
      assertConserved(diagnostics);
    }
  });

  test('case 3: after its lease, another tab resolves a batch whose tab died before the response', async () => {
    const world = createWorld();
    const first = world.openTab();
    world.service.fail({ type: 'hang', stored: true });
    const events = await first.captureMany(3);
    void first.delivery.flush();
    await world.settle();
    first.kill();
    const second = world.openTab();
    await world.clock.advance(30_000);
    expect(await second.delivery.diagnostics()).toMatchObject({ pending: 3, inDoubt: 0 });
    expect(world.service.requests).toHaveLength(1);
    await world.clock.advance(5_000);
    expect(await second.delivery.diagnostics()).toMatchObject({ captured: 3, delivered: 3, inDoubt: 0 });
    expect(second.getNotices('in-doubt')).toMatchObject([{ events }]);
    assertDeliveredExactlyOnce(world.service.events, events as never);
  });

  test('case 4: a batch whose tab dies between the response and the delete is in doubt, and resent byte for byte', async () => {
    const world = createWorld();
    const first = world.openTab();
    const events = await first.captureMany(3);
    world.service.fail({ type: 'slow', delayMs: 100 });
    void first.delivery.flush();
    await world.clock.advance(99);
    first.kill();
    await world.clock.advance(1);
    expect(world.service.events).toHaveLength(3);
    const second = world.openTab();
    await world.clock.advance(MINUTE_MS);
    const [original, retry] = world.service.requests;
    expect(retry!.text).toBe(original!.text);
    expect(second.getNotices('in-doubt')).toHaveLength(1);
    assertDeliveredExactlyOnce(world.service.events, events as never);
    expect(await second.delivery.diagnostics()).toMatchObject({ captured: 3, delivered: 3, pending: 0 });
  });

  test('cases 1 to 4: a page that dies at any moment does not lose events or count them twice', async () => {
    for (let dies = 0; dies < 60; dies += 1) {
      const world = createWorld();
      const first = world.openTab();
      const durable: unknown[] = [];
      const capture = first.captureMany(3).then((events) => durable.push(...events));
      void capture.then(() => first.delivery.flush());
      for (let i = 0; i < dies; i += 1) await Promise.resolve();
      await (dies % 2 === 0 ? Promise.resolve() : new Promise((resolve) => setImmediate(resolve)));
      first.kill();
      const second = world.openTab();
      await world.clock.advance(2 * MINUTE_MS);
      const diagnostics = await second.delivery.diagnostics();
      assertConserved(diagnostics);
      expect(diagnostics.delivered).toBe(diagnostics.captured);
      expect(world.service.events).toHaveLength(diagnostics.captured);
      expect(diagnostics.captured).toBeGreaterThanOrEqual(durable.length);
      for (const event of durable) {
        expect(world.service.events).toContainEqual(
          expect.objectContaining({ bannerId: (event as { bannerId: string }).bannerId }),
        );
      }
    }
  });

  test('case 5: ten concurrent calls of flush() send one request and share its result', async () => {
    const world = createWorld();
    const tab = world.openTab();
    await tab.captureMany(5);
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => tab.delivery.flush()));
    expect(world.service.requests).toHaveLength(1);
    expect(outcomes).toEqual(Array.from({ length: 10 }, () => ({ delivered: 5, pending: 0 })));
  });

  test('a flush also sends events that were captured while the previous run released its lease', async () => {
    const world = createWorld();
    let late: Promise<unknown> | undefined;
    const tab = await openReleasing(world, async () => {
      if (late !== undefined) return;
      await tab.capture('late');
      late = tab.delivery.flush();
      await world.settle();
    });
    await tab.capture('first');
    await tab.delivery.flush();
    expect(await late).toEqual({ delivered: 2, pending: 0 });
    expect(world.sent()).toEqual([['warm'], ['first'], ['late']]);
  });

  test('sends an event that becomes due while the previous run releases its lease', async () => {
    const world = createWorld();
    const tab = await openReleasing(
      world,
      () => new Promise<void>((resolve) => void world.clock.after(40, resolve)),
    );
    await tab.capture('first', 'click', 'u1');
    await world.clock.advance(20);
    await tab.capture('second', 'click', 'u2');
    await world.clock.advance(6_000);
    expect(world.sent()).toEqual([['warm'], ['first'], ['second']]);
  });

  test('case 6: stores ten thousand events of one task in order and sends them in two hundred requests', async () => {
    const world = createWorld();
    const tab = world.openTab();
    const events = await tab.captureMany(10_000, 'impression');
    expect(events.map((event) => event?.bannerId)).toEqual(Array.from({ length: 10_000 }, (_, i) => `b${i}`));
    await tab.delivery.flush();
    expect(world.service.requests).toHaveLength(200);
    assertDeliveredInOrder(world.service.events);
    expect(world.service.events.map(({ bannerId }) => bannerId)).toEqual(
      events.map((event) => event!.bannerId),
    );
  });

  test('case 7: counts an event twice if the page captures it twice, even within one millisecond', async () => {
    const world = createWorld();
    const tab = world.openTab();
    const events = await Promise.all([tab.capture('b1', 'click'), tab.capture('b1', 'click')]);
    await tab.delivery.flush();
    assertDeliveredExactlyOnce(world.service.events, events as never);
    expect(events[1]!.time - events[0]!.time).toBe(1);
  });

  test('case 8: a listener that throws does not stop delivery or other listeners', async () => {
    const world = createWorld();
    const heard: string[] = [];
    const { notify, subscribe } = createNotices();
    const tab = world.openTab({ notify });
    subscribe(() => {
      throw new Error('the host is broken');
    });
    subscribe(({ type }) => heard.push(type));
    await tab.capture();
    expect(await tab.delivery.flush()).toEqual({ delivered: 1, pending: 0 });
    expect(heard.filter((type) => type !== 'failed')).toEqual(['tracked', 'delivered']);
  });

  test('sends a batch when it is full or its wait is over', async () => {
    const world = createWorld();
    const tab = world.openTab();
    // The first request of a page is sent at the first pause, to warm the preflight.
    await tab.capture('first');
    await world.clock.advance(249);
    expect(world.service.requests).toHaveLength(0);
    await world.clock.advance(1);
    expect(world.sent()).toEqual([['first']]);
    await tab.capture('second');
    await world.clock.advance(4_000);
    await tab.capture('third');
    await world.clock.advance(999);
    expect(world.service.requests).toHaveLength(1);
    await world.clock.advance(1);
    expect(world.sent().at(-1)).toEqual(['second', 'third']);
    await tab.captureMany(50);
    await world.settle();
    expect(world.service.requests).toHaveLength(3);
  });

  test('sends a thousand events of one user in twenty requests, in any order of arrival', async () => {
    for (const chunk of [1_000, 100, 7]) {
      const world = createWorld();
      const tab = world.openTab();
      for (let sent = 0; sent < 1_000; sent += chunk) {
        await tab.captureMany(Math.min(chunk, 1_000 - sent));
        await world.clock.advance(2);
      }
      await world.clock.advance(10_000);
      expect(world.service.events).toHaveLength(1_000);
      expect(world.service.requests.length).toBeLessThanOrEqual(20);
    }
  });

  test('sends only events of one user and one app version in a batch', async () => {
    const world = createWorld();
    const old = world.openTab({ appVersion: '0.9.0' });
    await old.capture('a');
    old.kill();
    const tab = world.openTab();
    await tab.capture('b', 'click', 'u2');
    await tab.capture('c', 'click', 'u1');
    await tab.capture('d', 'click', 'u2');
    await tab.delivery.flush();
    expect(
      world
        .bodies()
        .map(({ external_user_id, app_version, events }) => [
          external_user_id,
          app_version,
          events.map(({ id }) => id).join(),
        ]),
    ).toEqual([
      ['u1', '0.9.0', 'a'],
      ['u2', '1.0.0', 'b,d'],
      ['u1', '1.0.0', 'c'],
    ]);
  });

  test('resends or drops dead letters on request', async () => {
    const world = createWorld();
    const tab = world.openTab({ onEventRejected: () => null });
    world.service.fail({ type: 'skip', indices: [0, 1] });
    await tab.captureMany(2);
    await tab.delivery.flush();
    const letters = await tab.delivery.deadLetters();
    expect(letters).toHaveLength(2);
    await tab.delivery.discardDeadLetters([letters[0]!.key]);
    await tab.delivery.retryDeadLetters();
    await tab.delivery.flush();
    const diagnostics = await tab.delivery.diagnostics();
    expect(diagnostics).toMatchObject({ captured: 2, delivered: 1, discarded: 1, deadLetters: 0 });
    assertConserved(diagnostics);
    expect(await tab.delivery.deadLetters()).toEqual([]);
  });

  test('stores events captured just before stop, but not those captured after it', async () => {
    const world = createWorld();
    const first = world.openTab();
    const [before, , after] = await Promise.all([
      first.capture('before'),
      first.delivery.stop(),
      first.capture('after'),
    ]);
    expect(before).toMatchObject({ bannerId: 'before' });
    expect(after).toBeNull();
    const second = world.openTab();
    await world.clock.advance(10_000);
    expect(world.sent()).toEqual([['before']]);
    expect(await second.delivery.diagnostics()).toMatchObject({ captured: 1, delivered: 1 });
  });

  test('leaves no timers and no listeners after stop', async () => {
    const world = createWorld();
    const tab = world.openTab();
    await tab.capture();
    tab.delivery.stop();
    await world.settle();
    expect(world.clock.pending()).toBe(0);
    expect(tab.listeners()).toBe(0);
    expect(await tab.capture()).toBeNull();
  });

  test('leaves no timers after stop for a write in progress', async () => {
    const world = createWorld();
    const tab = world.openTab();
    await tab.capture('warm');
    await tab.delivery.flush();
    const stored = tab.capture('stored');
    tab.delivery.stop();
    await stored;
    await world.settle();
    expect(world.clock.pending()).toBe(0);
  });
});
