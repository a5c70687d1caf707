// @vitest-environment node
import { describe, expect, test } from 'vitest';
import { assertConserved, assertDeliveredExactlyOnce } from '../../../src/testing/index.ts';
import { createWorld, deafLink } from './world.ts';

const MINUTE_MS = 60_000;

describe('several tabs', () => {
  test('case 36: eight tabs have one sender at a time, and send every event once', async () => {
    const world = createWorld();
    const tabs = Array.from({ length: 8 }, () => world.openTab());
    world.service.fail({ type: 'slow', delayMs: 20 }, { times: Number.POSITIVE_INFINITY });
    const captured = tabs.map((tab, i) => tab.captureMany(100, 'click', `u${i % 2}`, `tab${i}-`));
    for (let step = 0; step < 600; step += 1) {
      await world.clock.advance(10);
      const senders = await Promise.all(tabs.map((tab) => tab.delivery.diagnostics()));
      expect(senders.filter(({ isLeader }) => isLeader).length).toBeLessThanOrEqual(1);
    }
    const events = (await Promise.all(captured)).flat();
    assertDeliveredExactlyOnce(world.service.events, events as never);
    // One at a time: each request starts after the response to the previous one.
    const times = world.service.requests.map(({ at }) => at);
    expect(times.slice(1).every((at, i) => at - times[i]! >= 20)).toBe(true);
    expect(world.bodies().flatMap(({ events: sent }) => sent)).toHaveLength(800);
    expect(world.service.requests.length).toBeLessThanOrEqual(18);
  });

  test('case 36: one successor sends if the sender is closed abruptly, and the batch in doubt counts once', async () => {
    const world = createWorld();
    const tabs = Array.from({ length: 8 }, () => world.openTab());
    const captured = (
      await Promise.all(tabs.map((tab, i) => tab.captureMany(10, 'click', 'u1', `tab${i}-`)))
    ).flat();
    world.service.fail({ type: 'hang', stored: true });
    void tabs[0]!.delivery.flush();
    await world.settle();
    const states = await Promise.all(tabs.map((tab) => tab.delivery.diagnostics()));
    const leader = states.findIndex(({ isLeader }) => isLeader);
    tabs[leader]!.kill();
    const survivor = tabs[(leader + 1) % 8]!;
    await world.clock.advance(2 * MINUTE_MS);
    assertDeliveredExactlyOnce(world.service.events, captured as never);
    const [lost, ...others] = world.service.requests;
    expect(others.filter(({ text }) => text === lost!.text)).toHaveLength(1);
    const diagnostics = await survivor.delivery.diagnostics();
    expect(diagnostics).toMatchObject({ captured: 80, delivered: 80, inDoubt: 0, pending: 0 });
    expect(tabs.flatMap((tab) => tab.getNotices('in-doubt'))).toHaveLength(1);
  });

  test('each open page emits the notices of a service worker’s deliveries', async () => {
    const world = createWorld();
    const page = world.openTab({ options: { maxDelayMs: MINUTE_MS } });
    const events = await page.captureMany(3);
    const worker = world.openTab({ isWorker: true });
    world.service.fail({ type: 'skip', indices: [2] });
    await worker.delivery.flush();
    await world.settle();
    expect(page.getNotices('delivered')).toEqual([{ type: 'delivered', events: events.slice(0, 2) }]);
    expect(page.getNotices('rejected')).toMatchObject([{ event: events[2], attempts: 1 }]);
    expect(worker.getNotices('delivered')).toHaveLength(1);
  });

  test('case 36: the store determines the successor if tabs have no channel', async () => {
    const world = createWorld();
    const tabs = Array.from({ length: 3 }, () => world.openTab({ openChannel: deafLink }));
    const captured = (
      await Promise.all(tabs.map((tab, i) => tab.captureMany(10, 'click', 'u1', `tab${i}-`)))
    ).flat();
    world.service.fail({ type: 'hang' });
    void tabs[0]!.delivery.flush();
    await world.settle();
    tabs[0]!.kill();
    await world.clock.advance(2 * MINUTE_MS);
    assertDeliveredExactlyOnce(world.service.events, captured as never);
  });

  test('case 17: a tab that only captured during another tab’s wait sends when the wait is over', async () => {
    const world = createWorld();
    const first = world.openTab();
    world.service.fail({ type: 'rate-limit', afterSeconds: 120 });
    await first.capture('a');
    await first.delivery.flush();
    first.kill();
    const second = world.openTab({ openChannel: deafLink });
    await second.capture('b');
    await world.clock.advance(119_000);
    expect(world.service.requests).toHaveLength(1);
    await world.clock.advance(10_000);
    expect(world.sent().flat()).toEqual(['a', 'a', 'b']);
  });

  test('two apps on one origin keep their events, keys and opt-outs apart', async () => {
    const world = createWorld();
    const [shop, portal] = [world.openTab(), world.openTab({ appId: 'app-2', apiKey: 'another key' })];
    await shop.capture('of the shop');
    await portal.capture('of the portal');
    await portal.delivery.flush();
    await portal.delivery.wipe();
    await shop.delivery.flush();
    expect(
      world.service.requests.map(({ status, headers, body }) => [
        status,
        headers.get('authorization'),
        (body as { app_id: string }).app_id,
      ]),
    ).toEqual([
      [401, 'Bearer another key', 'app-2'],
      [202, 'Bearer client-key', 'app-1'],
    ]);
    expect(await shop.delivery.diagnostics()).toMatchObject({ captured: 1, delivered: 1 });
  });

  test('a flush waits for the sending tab, then sends the remaining events', async () => {
    const world = createWorld();
    const [first, second] = [world.openTab(), world.openTab()];
    world.service.fail({ type: 'slow', delayMs: 2_000 });
    await first.capture('a');
    const running = first.delivery.flush();
    await world.settle();
    await second.capture('b');
    const waiting = second.delivery.flush();
    await world.clock.advance(2_000);
    const outcomes = await Promise.all([running, waiting]);
    expect(outcomes.map(({ pending }) => pending)).toEqual([0, 0]);
    expect(outcomes[0].delivered + outcomes[1].delivered).toBe(2);
    expect(world.sent()).toEqual([['a'], ['b']]);
  });

  test('stop ends a tab’s wait for the leader', async () => {
    const world = createWorld();
    const [first, second] = [world.openTab(), world.openTab()];
    world.service.fail({ type: 'slow', delayMs: 2_000 });
    await first.capture('a');
    void first.delivery.flush();
    await world.settle();
    await second.capture('b');
    const waiting = second.delivery.flush();
    await world.settle();
    second.delivery.stop();
    await world.settle();
    // The clock has not advanced.
    expect(await waiting).toMatchObject({ delivered: 0 });
  });

  test('a late response to a frozen tab does not affect a batch that another tab is sending', async () => {
    const world = createWorld();
    let isFrozen = false;
    const answer = Promise.withResolvers<Response>();
    const clock = {
      ...world.clock,
      after: (delayMs: number, callback: () => void) =>
        world.clock.after(delayMs, () => isFrozen || callback()),
    };
    const first = world.openTab({ clock, fetch: () => answer.promise });
    await first.capture();
    void first.delivery.flush();
    await world.settle();
    isFrozen = true;
    world.service.fail({ type: 'hang' });
    world.openTab();
    while (world.service.requests.length === 0) await world.clock.advance(1_000);
    const whileSent = world.records();
    answer.resolve(new Response('', { status: 503 }));
    await world.settle();
    expect(first.getNotices('paused')).toEqual([]);
    expect(world.records()).toEqual(whileSent);
  });

  test('an exit flush skips events that the leader will send', async () => {
    const world = createWorld();
    const [first, second] = [world.openTab(), world.openTab()];
    world.service.fail({ type: 'slow', delayMs: 2_000 });
    await first.capture('a');
    void first.delivery.flush();
    await world.settle();
    await second.capture('b');
    second.tell('hidden');
    await world.settle();
    expect(world.service.requests).toHaveLength(1);
    await world.clock.advance(MINUTE_MS);
    expect(world.sent()).toEqual([['a'], ['b']]);
  });
});

describe('consent', () => {
  test('case 40: an opt-out in one tab stops the other tabs at once', async () => {
    const world = createWorld();
    const [first, second] = [world.openTab(), world.openTab()];
    await second.capture('a');
    await first.delivery.disable('keep');
    await world.settle();
    expect(await second.capture('b')).toBeNull();
    expect(await second.delivery.flush()).toEqual({ delivered: 0, pending: 1 });
    await world.clock.advance(MINUTE_MS);
    second.tell('hidden');
    await world.settle();
    expect(world.service.requests).toHaveLength(0);
    expect(second.getNotices('consent')).toEqual([{ type: 'consent', state: 'disabled' }]);
  });

  test.each([
    ['keep', 450],
    ['send', 450],
    ['purge', 0],
  ] as const)(
    'case 69: an opt-out (%s) handles pending events of another tab like queued ones',
    async (policy, kept) => {
      const world = createWorld();
      const [first, second] = [world.openTab(), world.openTab()];
      await world.settle();
      const clicks = second.captureMany(450);
      await first.delivery.disable(policy);
      await clicks;
      await world.settle();
      const { captured, purged, pending, delivered } = await first.delivery.diagnostics();
      expect(pending + delivered).toBe(kept);
      expect(captured - purged).toBe(kept);
      expect(await second.capture('later')).toBeNull();
    },
  );

  test('case 40: a tab that received no message reads the opt-out from the store', async () => {
    const world = createWorld();
    const [first, second] = [world.openTab(), world.openTab({ openChannel: deafLink })];
    await second.capture('a');
    await first.delivery.disable('keep');
    await world.clock.advance(1);
    expect(await second.capture('b')).toBeNull();
    expect(await second.delivery.flush()).toMatchObject({ delivered: 0 });
    expect(await first.delivery.diagnostics()).toMatchObject({ captured: 1, pending: 1 });
    expect(world.service.requests).toHaveLength(0);
  });

  test('case 40: an opt-out outlives the page until the user opts in again', async () => {
    const world = createWorld();
    const first = world.openTab();
    await first.capture('a');
    await first.delivery.disable('keep');
    first.kill();
    await world.clock.advance(1);
    const second = world.openTab();
    expect(await second.capture('b')).toBeNull();
    await world.clock.advance(MINUTE_MS);
    expect(world.service.requests).toHaveLength(0);
    await second.delivery.enable();
    expect(await second.capture('c')).not.toBeNull();
    await world.clock.advance(MINUTE_MS);
    expect(world.sent().flat()).toEqual(['a', 'c']);
  });

  test('a client that starts disabled does not store or send anything until it is enabled', async () => {
    const world = createWorld();
    const tab = world.openTab({ consent: 'disabled' });
    expect(await tab.capture('a')).toBeNull();
    await tab.delivery.flush();
    tab.tell('hidden');
    await world.clock.advance(MINUTE_MS);
    expect(world.records()).toEqual([]);
    await tab.delivery.enable();
    await tab.capture('b');
    await tab.delivery.flush();
    expect(world.sent()).toEqual([['b']]);
  });

  test('case 69: "keep" keeps queued events and sends them after the next opt-in', async () => {
    const world = createWorld();
    const tab = world.openTab();
    await tab.captureMany(3);
    await tab.delivery.disable('keep');
    await world.clock.advance(MINUTE_MS);
    expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 3, pending: 3 });
    expect(world.service.requests).toHaveLength(0);
    await tab.delivery.enable();
    await world.clock.advance(MINUTE_MS);
    expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 3 });
  });

  test('case 69: "send" sends queued events and stops capturing', async () => {
    const world = createWorld();
    const tab = world.openTab();
    await tab.captureMany(3);
    world.service.fail({ type: 'status', status: 503 });
    const done = tab.delivery.disable('send');
    expect(await tab.capture('later')).toBeNull();
    await done;
    expect(await tab.delivery.diagnostics()).toMatchObject({ pending: 3 });
    await world.clock.advance(MINUTE_MS);
    expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 3, delivered: 3 });
    expect(await tab.capture('later')).toBeNull();
  });

  test('case 69: "purge" removes and counts queued events and aborts the request in flight', async () => {
    const world = createWorld();
    const tab = world.openTab({ onEventRejected: () => null });
    world.service.fail({ type: 'skip', indices: [0] });
    await tab.captureMany(3);
    await tab.delivery.flush();
    await tab.captureMany(450, 'impression');
    world.service.fail({ type: 'hang' });
    void tab.delivery.flush();
    await world.settle();
    await tab.delivery.disable('purge');
    await world.clock.advance(MINUTE_MS);
    const diagnostics = await tab.delivery.diagnostics();
    expect(diagnostics).toMatchObject({
      captured: 453,
      delivered: 2,
      purged: 451,
      pending: 0,
      deadLetters: 0,
    });
    assertConserved(diagnostics);
    expect(world.service.requests).toHaveLength(2);
    expect(world.records()).toHaveLength(1);
  });

  test('wipe() removes everything in every tab, and tabs do not write afterwards', async () => {
    const world = createWorld();
    const [first, second] = [world.openTab(), world.openTab()];
    await Promise.all([first.captureMany(5), second.captureMany(5)]);
    world.service.fail({ type: 'slow', delayMs: 500 });
    void first.delivery.flush();
    await world.settle();
    void second.capture('in the air');
    await first.delivery.wipe();
    expect(await first.capture()).toBeNull();
    expect(await second.capture()).toBeNull();
    for (const tab of [first, second]) tab.tell('hidden');
    await world.clock.advance(10 * MINUTE_MS);
    expect(world.records()).toEqual([]);
    expect(world.service.requests).toHaveLength(1);
    expect(await first.delivery.diagnostics()).toMatchObject({ captured: 0, delivered: 0, purged: 0 });
    await first.delivery.enable();
    expect(await first.capture()).not.toBeNull();
  });

  test('a page whose log is wiped without a message starts like a first visit and continues to count', async () => {
    const world = createWorld();
    const [first, deaf] = [world.openTab(), world.openTab({ openChannel: deafLink })];
    await deaf.capture('before');
    await deaf.delivery.flush();
    await first.delivery.wipe();
    expect(await deaf.capture('after')).toMatchObject({ bannerId: 'after' });
    await deaf.delivery.flush();
    expect(world.sent()).toEqual([['before'], ['after']]);
    expect(deaf.getNotices('consent')).toEqual([]);
    expect(await deaf.delivery.diagnostics()).toMatchObject({ captured: 1, delivered: 1 });
  });

  test.each([null, 'text', {}, { type: 'of a newer version' }])(
    'case 44: ignores an unknown channel message (%j)',
    async (data) => {
      const world = createWorld();
      const listeners: ((event: { data: unknown }) => void)[] = [];
      const tab = world.openTab({
        openChannel: () => ({ ...deafLink(), addEventListener: (_, listener) => listeners.push(listener) }),
      });
      await tab.capture('stored');
      expect(listeners).toHaveLength(1);
      for (const listener of listeners) expect(() => listener({ data })).not.toThrow();
      expect(await tab.delivery.flush()).toEqual({ delivered: 1, pending: 0 });
      expect(tab.getNotices('failed')).toEqual([]);
    },
  );

  test('a service worker that outlives a wipe sends again after the next opt-in', async () => {
    const world = createWorld();
    const worker = world.openTab({ isWorker: true });
    const page = world.openTab();
    await page.capture('before');
    await worker.delivery.flush();
    await page.delivery.wipe();
    page.kill();
    await world.settle();
    const next = world.openTab({ options: { maxDelayMs: 60 * MINUTE_MS } });
    await world.clock.advance(1);
    await next.delivery.enable();
    await next.capture('after');
    expect(await worker.delivery.flush()).toEqual({ delivered: 1, pending: 0 });
    expect(world.sent()).toEqual([['before'], ['after']]);
  });

  test('a purge leaves no user IDs in storage, and times are not assigned twice', async () => {
    const world = createWorld();
    const tab = world.openTab();
    const before = await tab.capture('same');
    await tab.delivery.flush();
    await tab.delivery.disable('purge');
    expect(JSON.stringify(world.records())).not.toContain('u1');
    await tab.delivery.enable();
    const after = await tab.capture('same');
    expect(after!.time).toBeGreaterThan(before!.time);
  });

  test('leaves no user IDs of delivered events in storage, before or after an opt-out', async () => {
    const world = createWorld();
    const tab = world.openTab();
    await tab.capture('before', 'click', 'former');
    await world.clock.advance(60 * MINUTE_MS);
    await tab.capture('after', 'click', 'present');
    await tab.delivery.flush();
    expect(JSON.stringify(world.records())).not.toMatch(/former|present/);
    await tab.delivery.disable('purge');
    expect(JSON.stringify(world.records())).not.toMatch(/former|present/);
  });

  test('a skipped event waits for the time configured in the tab that sent it', async () => {
    const world = createWorld();
    const slow = world.openTab({ options: { maxDelayMs: MINUTE_MS } });
    const fast = world.openTab({ options: { maxDelayMs: 5_000 } });
    world.service.fail({ type: 'skip', indices: [0] });
    await slow.capture('skipped');
    await slow.delivery.flush();
    await fast.delivery.flush();
    await world.clock.advance(50_000);
    expect(world.sent()).toHaveLength(1);
    await world.clock.advance(MINUTE_MS);
    expect(await fast.delivery.diagnostics()).toMatchObject({ captured: 1, delivered: 1 });
    expect(world.sent()).toHaveLength(2);
  });

  test('case 71: keeps the queue under its cap and timers rare behind an ad blocker', async () => {
    const world = createWorld();
    const tab = world.openTab({ options: { maxEvents: 500 }, random: () => 0.5 });
    world.service.fail({ type: 'drop', when: 'before' }, { times: Number.POSITIVE_INFINITY });
    for (let hour = 0; hour < 6; hour += 1) {
      await tab.captureMany(300, hour % 2 === 0 ? 'impression' : 'click');
      await world.settle();
      const { pending, inDoubt } = await tab.delivery.diagnostics();
      expect(pending + inDoubt).toBeLessThanOrEqual(500);
      await world.clock.advance(60 * MINUTE_MS);
    }
    const diagnostics = await tab.delivery.diagnostics();
    assertConserved(diagnostics);
    expect(diagnostics.captured).toBe(1_800);
    expect(diagnostics.pending + diagnostics.inDoubt).toBeLessThanOrEqual(500);
    expect(diagnostics.evicted).toBeGreaterThanOrEqual(1_300);
    expect(world.service.requests.length / 6).toBeLessThan(40);
    expect(world.clock.pending()).toBeLessThanOrEqual(4);
  });
});
