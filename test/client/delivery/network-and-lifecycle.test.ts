// @vitest-environment node
import { describe, expect, test, vi } from 'vitest';
import {
  assertConserved,
  assertDeliveredExactlyOnce,
  assertDeliveredInOrder,
  createFaultyStore,
} from '../../../src/testing/index.ts';
import { createWorld, deafLink } from './world.ts';

const HOUR_MS = 60 * 60_000;

describe('network and lifecycle', () => {
  test('case 24: increases the backoff while the network fails, and resets it once on success', async () => {
    const world = createWorld();
    const tab = world.openTab({ random: () => 1 });
    const lift = world.service.fail({ type: 'drop', when: 'before' }, { times: Number.POSITIVE_INFINITY });
    await tab.capture();
    await world.clock.advance(HOUR_MS / 2);
    const times = world.service.requests.map(({ at }) => at);
    const waits = times.slice(1).map((at, i) => at - times[i]!);
    expect(waits.slice(0, 8)).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000]);
    expect(Math.max(...waits)).toBe(300_000);
    const before = world.service.requests.length;
    tab.tell('online');
    tab.tell('visible');
    await world.settle();
    expect(world.service.requests).toHaveLength(before + 1);
    await world.clock.advance(299_000);
    expect(world.service.requests).toHaveLength(before + 1);
    lift();
    tab.tell('visible');
    await world.settle();
    expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 1, pausedUntil: null });
  });

  test.each([
    ['the network changed is retried soon', 'online', 2_000],
    ['the network stayed the same waits like the others', undefined, 300_000],
  ] as const)('case 24: an attempt that failed while %s', async (_, sign, waitMs) => {
    const world = createWorld();
    const { promise: networkChanged, resolve: changeNetwork } = Promise.withResolvers<void>();
    let isChanging = false;
    const tab = world.openTab({
      random: () => 1,
      async fetch(input, init) {
        if (!isChanging) return world.service.fetch(input, init);
        await networkChanged;
        throw new TypeError('network error');
      },
    });
    const lift = world.service.fail({ type: 'drop', when: 'before' }, { times: Number.POSITIVE_INFINITY });
    await tab.capture();
    await world.clock.advance(HOUR_MS / 2);
    lift();
    isChanging = true;
    tab.tell('visible');
    await world.settle();
    if (sign) tab.tell(sign);
    await world.settle();
    isChanging = false;
    changeNetwork();
    await world.settle();
    const { pausedUntil } = await tab.delivery.diagnostics();
    expect(pausedUntil! - world.clock.now()).toBe(waitMs);
    await world.clock.advance(waitMs);
    expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 1, pausedUntil: null });
  });

  test('case 25: treats a connection dropped after acceptance as in doubt, and retries byte for byte', async () => {
    const world = createWorld();
    const tab = world.openTab();
    world.service.fail({ type: 'drop', when: 'after' });
    const events = await tab.captureMany(4);
    await tab.delivery.flush();
    expect(await tab.delivery.diagnostics()).toMatchObject({ inDoubt: 4, pending: 0, delivered: 0 });
    await tab.captureMany(4, 'impression');
    await world.clock.advance(60_000);
    expect(world.service.requests[1]!.text).toBe(world.service.requests[0]!.text);
    expect(await tab.delivery.diagnostics()).toMatchObject({ inDoubt: 0, delivered: 8 });
    expect(world.service.events.filter(({ type }) => type === 'click')).toHaveLength(4);
    expect(events).toHaveLength(4);
  });

  test('case 25: at-most-once drops an impression in doubt, but not a click', async () => {
    const world = createWorld();
    const tab = world.openTab({
      options: { guarantee: { impression: 'at-most-once' } },
    });
    world.service.fail({ type: 'drop', when: 'after' }, { times: 2 });
    await tab.captureMany(2, 'impression');
    await tab.captureMany(2, 'click');
    await world.clock.advance(60_000);
    const diagnostics = await tab.delivery.diagnostics();
    expect(diagnostics).toMatchObject({ captured: 4, delivered: 2, discarded: 2, inDoubt: 0 });
    assertConserved(diagnostics);
    const impressions = world.bodies().filter(({ events }) => events[0]!.event_type === 'impression');
    expect(impressions).toHaveLength(1);
  });

  test.each([
    ['keeps what an offline browser cannot have sent', false, 1],
    ['drops what was sent before the browser went offline', true, 0],
  ])('case 25: at-most-once %s', async (_, wasOnline, delivered) => {
    const world = createWorld();
    const goOffline = () => vi.stubGlobal('navigator', { onLine: false });
    const fetch: typeof globalThis.fetch = (input, init) => {
      goOffline();
      return world.service.fetch(input, init);
    };
    const tab = world.openTab({ fetch, options: { guarantee: { click: 'at-most-once' } } });
    world.service.fail({ type: 'drop', when: wasOnline ? 'after' : 'before' });
    if (!wasOnline) goOffline();
    await tab.capture();
    await tab.delivery.flush();
    const message = expect.stringMatching(/^Delivery failed: No response from http\S+\/banners\/track: /);
    expect(tab.getNotices('failed')).toMatchObject([{ kind: 'delivery', message }]);
    vi.unstubAllGlobals();
    await world.clock.advance(60_000);
    const diagnostics = await tab.delivery.diagnostics();
    expect(diagnostics).toMatchObject({ delivered, discarded: 1 - delivered, inDoubt: 0 });
    assertConserved(diagnostics);
    expect(world.service.requests).toHaveLength(1 + delivered);
    vi.unstubAllGlobals();
  });

  test('case 25: at-most-once also drops the batch of a page that died', async () => {
    const world = createWorld();
    const options = {
      guarantee: { impression: 'at-most-once' } as const,
    };
    const first = world.openTab({ options });
    world.service.fail({ type: 'hang', stored: true });
    await first.captureMany(2, 'impression');
    void first.delivery.flush();
    await world.settle();
    first.kill();
    const second = world.openTab({ options });
    await world.clock.advance(60_000);
    expect(world.service.requests).toHaveLength(1);
    expect(await second.delivery.diagnostics()).toMatchObject({ captured: 2, discarded: 2, pending: 0 });
  });

  test('treats a response that takes too long as in doubt', async () => {
    const world = createWorld();
    const tab = world.openTab();
    world.service.fail({ type: 'hang' });
    await tab.capture();
    const flushed = tab.delivery.flush();
    await world.clock.advance(30_000);
    expect(await flushed).toEqual({ delivered: 0, pending: 1 });
    expect(await tab.delivery.diagnostics()).toMatchObject({ inDoubt: 1 });
  });

  test('case 27: sends the most valuable of 100 KiB on pagehide within the budget, and keeps the rest stored', async () => {
    const world = createWorld();
    // Nothing is due before the page hides.
    const tab = world.openTab({ options: { maxDelayMs: HOUR_MS, maxBatchSize: 2_000 } });
    await tab.captureMany(900, 'impression');
    await tab.captureMany(50, 'click');
    await tab.captureMany(10, 'dismiss');
    const total = new TextEncoder().encode(JSON.stringify(world.records())).length;
    expect(total).toBeGreaterThan(100 * 1024);
    world.service.requests.length = 0;
    tab.tell('hidden');
    await world.settle();
    const bytes = world.service.requests.reduce((sum, { text }) => sum + text.length, 0);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThanOrEqual(60_000);
    expect(world.options.every(({ keepalive }) => keepalive)).toBe(true);
    const types = world.service.events.map(({ type }) => type);
    expect(types.filter((type) => type === 'dismiss')).toHaveLength(10);
    expect(types.filter((type) => type === 'click')).toHaveLength(50);
    assertDeliveredInOrder(world.service.events);
    const diagnostics = await tab.delivery.diagnostics();
    assertConserved(diagnostics);
    expect(diagnostics.pending).toBe(960 - types.length);
    tab.tell('visible');
    await world.clock.advance(2 * HOUR_MS);
    expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 960, delivered: 960 });
  });

  test('case 27: sends the full budget again once a keepalive request succeeds after a rejected one', async () => {
    const world = createWorld();
    let isShedding = true;
    const fetch: typeof globalThis.fetch = (input, init) =>
      isShedding ? Promise.reject(new TypeError('over the quota')) : world.service.fetch(input, init);
    const tab = world.openTab({ options: { maxDelayMs: HOUR_MS, maxBatchSize: 2_000 }, fetch });
    await tab.capture();
    await tab.delivery.flush();
    isShedding = false;
    await world.clock.advance(2 * 60_000);
    await tab.capture();
    await tab.delivery.flush();
    world.service.requests.length = 0;
    await tab.captureMany(900);
    tab.tell('hidden');
    await world.settle();
    expect(world.service.requests[0]!.text.length).toBeGreaterThan(50_000);
  });

  test('case 27: does not need a response to an exit flush, because the next page settles it', async () => {
    const world = createWorld();
    const first = world.openTab();
    const events = await first.captureMany(3);
    world.service.fail({ type: 'slow', delayMs: 1_000 });
    first.tell('hidden');
    first.tell('pagehide');
    await world.settle();
    first.kill();
    await world.clock.advance(60_000);
    expect(world.service.events).toHaveLength(3);
    const second = world.openTab();
    await world.clock.advance(60_000);
    expect(world.service.requests[1]!.text).toBe(world.service.requests[0]!.text);
    expect(await second.delivery.diagnostics()).toMatchObject({ captured: 3, delivered: 3 });
    assertDeliveredExactlyOnce(world.service.events, events as never);
  });

  test('case 28: sends a click captured while the page is hidden at once', async () => {
    const world = createWorld();
    const tab = world.openTab();
    tab.tell('hidden');
    await tab.capture('b1', 'click');
    await world.settle();
    expect(world.sent()).toEqual([['b1']]);
    expect(world.options[0]!.keepalive).toBe(true);
  });

  test('does not send an exit flush during a wait that the server requested', async () => {
    const world = createWorld();
    const tab = world.openTab();
    world.service.fail({ type: 'rate-limit', afterSeconds: 600 });
    await tab.capture();
    await tab.delivery.flush();
    await tab.capture();
    tab.tell('hidden');
    await world.settle();
    expect(world.service.requests).toHaveLength(1);
    expect(await tab.delivery.diagnostics()).toMatchObject({ pending: 2 });
  });

  test('case 29: a page restored from the bfcache reads the store again before it sends', async () => {
    const world = createWorld();
    const first = world.openTab();
    await first.captureMany(3);
    // Events that another tab sent in the meantime, without an open channel.
    const second = world.openTab({ openChannel: deafLink });
    await second.delivery.flush();
    expect(world.service.requests).toHaveLength(1);
    await world.clock.advance(10 * 60_000);
    first.tell('restored');
    first.tell('hidden');
    await world.clock.advance(60_000);
    expect(world.service.requests).toHaveLength(1);
    await first.capture('after');
    await world.clock.advance(60_000);
    expect(world.sent().at(-1)).toEqual(['after']);
  });

  test('case 30: another tab takes over from a frozen sender within the lease time', async () => {
    const world = createWorld();
    const first = world.openTab();
    world.service.fail({ type: 'hang' });
    await first.capture('a');
    void first.delivery.flush();
    await world.settle();
    expect(await first.delivery.diagnostics()).toMatchObject({ isLeader: true });
    const second = world.openTab();
    await second.capture('b');
    first.kill();
    await world.clock.advance(9_000);
    expect(world.service.requests).toHaveLength(1);
    await world.clock.advance(2_000);
    expect(world.sent()).toEqual([['a'], ['b']]);
  });

  test('case 31: a prerendered page does not send anything until it is activated', async () => {
    const world = createWorld();
    const before = world.openTab();
    await before.capture();
    before.kill();
    const tab = world.openTab({}, { prerendering: true });
    await world.clock.advance(60_000);
    await tab.delivery.flush();
    tab.tell('hidden');
    await world.settle();
    expect(world.service.requests).toHaveLength(0);
    tab.tell('activated');
    await world.clock.advance(10_000);
    expect(world.service.requests).toHaveLength(1);
  });

  test('case 34: uses the clock, not the tick count, if a timer fires a minute late', async () => {
    const world = createWorld();
    const slow = {
      ...world.clock,
      after: (delayMs: number, callback: () => void) =>
        world.clock.after(Math.ceil((delayMs + 1) / 60_000) * 60_000, callback),
    };
    const tab = world.openTab({ clock: slow, random: () => 1 });
    world.service.fail({ type: 'status', status: 503 }, { times: 3 });
    await tab.capture();
    await world.clock.advance(10 * 60_000);
    const times = world.service.requests.map(({ at }) => at);
    expect(times.slice(1).map((at, i) => at - times[i]!)).toEqual([60_000, 60_000, 60_000]);
    expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 1 });
  });

  test('keeps the age of an event that is captured late, even if the clock changes', async () => {
    const world = createWorld();
    const tab = world.openTab();
    const event = { type: 'click', bannerId: 'b', placementId: 'p', userId: 'u1' } as const;
    const start = world.clock.now();
    world.clock.jump(-HOUR_MS / 10);
    const late = await tab.delivery.capture({ ...event, at: world.clock.now() - 400 });
    expect(late!.time).toBe(start - 400);
    const next = await tab.delivery.capture({ ...event, at: world.clock.now() + 5_000 });
    expect(next!.time).toBe(start);
  });

  test('reports a storage failure during the exit flush as a notice, not as an exception in the page', async () => {
    const world = createWorld();
    const store = createFaultyStore(world.disk.openStore(world.name));
    const tab = world.openTab({ openStore: () => store });
    await tab.captureMany(3);
    store.fail(
      { type: 'reject', error: 'QuotaExceededError' },
      { verbs: ['update', 'setMany'], times: Number.POSITIVE_INFINITY },
    );
    tab.tell('hidden');
    await world.settle();
    expect(world.service.events).toHaveLength(3);
    expect(tab.getNotices('failed')).toMatchObject([{ kind: 'storage' }]);
    store.recover();
    tab.tell('visible');
    await world.clock.advance(60_000);
    // A full disk stores no counts, and removes delivered events.
    expect(await tab.delivery.diagnostics()).toMatchObject({ pending: 0, inDoubt: 0 });
    expect(tab.getNotices('delivered')[0]?.events).toHaveLength(3);
    expect(world.service.events.map(({ copies }) => copies)).toEqual([1, 1, 1]);
  });

  test('a clock days ahead during one capture does not affect later captures on this page or the next', async () => {
    const world = createWorld();
    const tab = world.openTab();
    const ahead = 2 * 24 * HOUR_MS;
    await tab.capture('before');
    world.clock.jump(ahead);
    await tab.capture('ahead');
    world.clock.jump(-ahead);
    await world.clock.advance(1_000);
    expect((await tab.capture('after'))!.time).toBe(world.clock.now());
    await world.clock.advance(HOUR_MS);
    expect((await world.openTab().capture('next page'))!.time).toBe(world.clock.now());
    expect((await tab.capture('later'))!.time).toBe(world.clock.now());
  });

  test('a temporarily wrong clock does not expire events, and a permanently wrong one does', async () => {
    const world = createWorld();
    const tab = world.openTab();
    const ahead = 8 * 24 * HOUR_MS;
    const down = () =>
      world.service.fail({ type: 'status', status: 503 }, { times: Number.POSITIVE_INFINITY });
    const lift = down();
    const look = async () => {
      tab.tell('hidden');
      tab.tell('visible');
      await world.settle();
    };
    await tab.captureMany(2);
    await tab.delivery.flush();
    for (const hours of [0, 2]) {
      await world.clock.advance(hours * HOUR_MS);
      world.clock.jump(ahead);
      await look();
      world.clock.jump(-ahead);
      await look();
    }
    lift();
    await world.clock.advance(HOUR_MS);
    expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 2, delivered: 2, expired: 0 });
    down();
    await tab.capture();
    world.clock.jump(ahead);
    for (let i = 0; i < 2; i += 1) {
      await world.clock.advance(2 * HOUR_MS);
      await look();
    }
    expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 3, expired: 1 });
  });

  test('keeps the order of event times when a wrong clock is corrected, and follows the correction', async () => {
    const world = createWorld();
    const tab = world.openTab();
    const times: number[] = [];
    const capture = async () => times.push((await tab.capture())!.time);
    await capture();
    world.clock.jump(-HOUR_MS / 10);
    await world.clock.advance(1_000);
    await capture();
    expect(times[1]! - times[0]!).toBe(1_000);
    world.clock.jump(4 * 24 * HOUR_MS);
    await capture();
    await capture();
    expect([...times].sort((a, b) => a - b)).toEqual(times);
    expect(new Set(times).size).toBe(times.length);
    world.clock.jump(-4 * 24 * HOUR_MS);
    await capture();
    expect(times.at(-1)).toBe(world.clock.now());
  });

  test('a page that starts after the clock was set back uses the clock, and delivers every event', async () => {
    const world = createWorld();
    const first = world.openTab();
    await first.captureMany(3);
    first.kill();
    world.clock.jump(-2 * 24 * HOUR_MS);
    const second = world.openTab();
    expect((await second.capture())!.time).toBe(world.clock.now());
    await second.delivery.flush();
    expect(await second.delivery.diagnostics()).toMatchObject({ captured: 4, delivered: 4 });
    expect(world.service.events).toHaveLength(4);
  });
});
