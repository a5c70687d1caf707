// @vitest-environment node
import { expect, onTestFinished, test } from 'vitest';
import { claimKey } from '../../../src/client/delivery/log/records.ts';
import type { Store } from '../../../src/client/platform/store.ts';
import { assertConserved, type Fault } from '../../../src/testing/index.ts';
import { createFaultyWorld, createWorld, type TabSetup } from './world.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
const FOREVER = { times: Number.POSITIVE_INFINITY };

test('keeps the caps over many short pages', async () => {
  const world = createWorld();
  world.service.fail({ type: 'status', status: 503 }, FOREVER);
  for (let page = 0; page < 60; page += 1) {
    const tab = world.openTab({ options: { maxEvents: 100 } });
    await world.settle();
    await tab.captureMany(5, 'click', 'u1', `p${page}-`);
    await world.clock.advance(30_000);
    tab.tell('hidden');
    tab.tell('pagehide');
    await world.settle();
    tab.kill();
  }
  const last = world.openTab({ options: { maxEvents: 100 } });
  await world.clock.advance(MINUTE_MS);
  const diagnostics = await last.delivery.diagnostics();
  expect(diagnostics.pending + diagnostics.inDoubt).toBeLessThanOrEqual(105);
  assertConserved(diagnostics);
});

test('does not read a long backlog on a page view if another page checked it within the hour', async () => {
  const world = createWorld();
  world.service.fail({ type: 'status', status: 503 }, FOREVER);
  const first = world.openTab();
  await first.captureMany(1_000);
  await world.clock.advance(10_000);
  first.kill();

  let read = 0;
  const openTab = () => {
    const store = world.disk.openStore(world.name);
    const entries: Store['entries'] = async (range) => {
      const found = await store.entries(range);
      read += found.length;
      return found as never;
    };
    return world.openTab({ openStore: () => ({ ...store, entries }) });
  };
  const second = openTab();
  await second.capture('one');
  await world.clock.advance(10_000);
  second.kill();
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(500);

  // The log is read an hour later, or after another page has appended many events.
  await world.clock.advance(HOUR_MS);
  read = 0;
  const third = openTab();
  await third.capture('two');
  await world.clock.advance(10_000);
  third.kill();
  expect(read).toBeGreaterThan(1_000);
});

test('a tab restored from the back/forward cache after a wipe does not store or send anything', async () => {
  const world = createWorld();
  const away = world.openTab();
  await world.settle();
  await away.capture('before');
  await away.delivery.flush();
  away.tell('hidden');
  away.tell('pagehide');
  const other = world.openTab();
  await world.settle();
  await other.delivery.wipe();
  other.kill();
  await world.settle();
  world.service.clear();
  away.tell('restored');
  away.tell('visible');
  await world.settle();
  expect(await away.capture('after')).toBeNull();
  await world.clock.advance(10_000);
  expect(await away.delivery.readConsent()).toBe(false);
  expect(world.sent()).toEqual([]);
  expect(world.records()).toEqual([]);
});

test('an exit flush respects the wait that the service requested from another tab', async () => {
  const world = createWorld();
  const first = world.openTab();
  const second = world.openTab();
  await world.settle();
  await second.capture('of the second');
  await world.settle();
  world.service.fail({ type: 'rate-limit', afterSeconds: 300, form: 'retry-after' });
  await first.delivery.flush();
  const before = world.service.requests.length;
  second.tell('hidden');
  await world.settle();
  expect(world.service.requests).toHaveLength(before);
});

test.each([30 * DAY_MS, 400 * DAY_MS])(
  'does not expire events when a page loads under a clock %d ms ahead',
  async (aheadMs) => {
    const world = createWorld();
    const lift = world.service.fail({ type: 'drop', when: 'before' }, FOREVER);
    const first = world.openTab();
    await world.settle();
    await first.captureMany(5);
    await world.clock.advance(1_000);
    first.kill();
    world.clock.jump(aheadMs);
    const second = world.openTab();
    await world.clock.advance(1_000);
    world.clock.jump(-aheadMs);
    lift();
    await world.clock.advance(10 * MINUTE_MS);
    expect(await second.delivery.diagnostics()).toMatchObject({ expired: 0, delivered: 5 });
  },
);

test('corrects event times within one call after the clock is corrected', async () => {
  const world = createWorld();
  world.clock.jump(2 * 60 * MINUTE_MS);
  const tab = world.openTab();
  await world.settle();
  await tab.capture('a');
  await world.clock.advance(MINUTE_MS);
  world.clock.jump(-2 * 60 * MINUTE_MS);
  await world.clock.advance(60 * MINUTE_MS);
  const event = await tab.capture('b');
  expect(event!.time).toBe(world.clock.now());
});

test('an exit flush that cannot be settled does not cause an unhandled rejection', async () => {
  const { world, store, openTab } = createFaultyWorld();
  const seen: unknown[] = [];
  const listen = (reason: unknown) => seen.push(reason);
  process.on('unhandledRejection', listen);
  onTestFinished(() => void process.off('unhandledRejection', listen));
  let fails = false;
  const fetch: typeof globalThis.fetch = async (...args) => {
    if (fails) throw new TypeError('Failed to fetch');
    return world.service.fetch(...args);
  };
  const tab = openTab({ fetch, evictCache: async () => undefined });
  await world.settle();
  await tab.capture('e1');
  await world.settle();
  fails = true;
  const { promise: written, resolve: write } = Promise.withResolvers<void>();
  // The disk stores the claim slowly, and is full when the claim is settled.
  store.fail({ type: 'wait', until: written }, { verbs: ['setMany'] });
  store.fail({ type: 'reject', error: 'QuotaExceededError' }, { verbs: ['update'] });
  tab.tell('hidden');
  await world.settle();
  // Node reports an unhandled rejection after the microtasks of the turn.
  await new Promise((resolve) => setImmediate(resolve));
  write();
  await world.settle();
  await new Promise((resolve) => setImmediate(resolve));
  expect(seen).toEqual([]);
});

test('does not resend at-most-once events after a 504 whose batch was accepted', async () => {
  const world = createWorld();
  let isFirst = true;
  const fetch: typeof globalThis.fetch = async (...args) => {
    const answer = await world.service.fetch(...args);
    if (!isFirst) return answer;
    isFirst = false;
    return Response.json({ message: 'upstream timed out' }, { status: 504 });
  };
  const tab = world.openTab({ options: { guarantee: { click: 'at-most-once' } }, fetch });
  await world.settle();
  await tab.capture('c1');
  await tab.delivery.flush();
  await world.clock.advance(10 * MINUTE_MS);
  expect(world.sent().flat()).toEqual(['c1']);
  expect(await tab.delivery.diagnostics()).toMatchObject({ discarded: 1, pending: 0 });
});

test.each([
  ['behind', ['click', 'dismiss']],
  ['before', ['dismiss', 'click']],
] as const)(
  'on a full disk, sends stored events once and does not send an at-most-once event %s them',
  async (_, types) => {
    const { world, store, openTab } = createFaultyWorld();
    const tab = openTab({ options: { guarantee: { dismiss: 'at-most-once' } } });
    await world.settle();
    for (const type of types) await tab.capture(type, type);
    store.fail({ type: 'reject', error: 'QuotaExceededError' }, { verbs: ['update'], ...FOREVER });
    await world.clock.advance(10 * MINUTE_MS);
    expect(world.sent()).toEqual([['click']]);
    store.recover();
    await world.clock.advance(10 * MINUTE_MS);
    expect(world.sent()).toEqual([['click'], ['dismiss']]);
    expect(await tab.delivery.diagnostics()).toMatchObject({ pending: 0, evicted: 0 });
  },
);

/** A world with a full disk: writes fail, but reads and removals succeed, as in IndexedDB. */
const createFullWorld = () => {
  const world = createWorld();
  const disk = world.disk.openStore(world.name);
  let isFull = false;
  const refuse = () => {
    throw new DOMException('The disk is full', 'QuotaExceededError');
  };
  const store: Store = {
    ...disk,
    update: (keys, change) =>
      disk.update<never>(keys, (values) => {
        const writes = change(values);
        return isFull && writes.length > 0 ? refuse() : writes;
      }),
  };
  return {
    world,
    openTab: (setup: TabSetup = {}) => world.openTab({ openStore: () => store, ...setup }),
    fill: (full: boolean) => {
      isFull = full;
    },
  };
};

test.each<[string, Fault, number, number]>([
  ['a 503', { type: 'status', status: 503 }, 2, 30],
  ['a 503 with Retry-After', { type: 'status', status: 503, headers: { 'retry-after': '240' } }, 2, 4],
  ['a 429', { type: 'rate-limit', afterSeconds: 240, form: 'retry-after' }, 2, 4],
  ['a rejected key', { type: 'status', status: 401 }, 1, 1],
  ['a dropped connection', { type: 'drop', when: 'before' }, 2, 30],
  ['a rejection of the whole batch', { type: 'status', status: 400 }, 2, 30],
  ['a skipped event', { type: 'skip', indices: [0] }, 2, 30],
])('a full disk: the pause after %s holds in memory in each page', async (_, fault, least, most) => {
  const { world, openTab, fill } = createFullWorld();
  // Requests without a pause end as well.
  const lift = world.service.fail(fault, { times: 100 });
  const tab = openTab();
  await world.settle();
  await tab.capture('c1');
  fill(true);
  const count = () => world.service.requests.length;
  await world.clock.advance(1_000);
  expect(count()).toBe(1);
  await tab.delivery.flush();
  tab.tell('hidden');
  tab.tell('visible');
  await world.clock.advance(1_000);
  expect(count()).toBeLessThanOrEqual(2);
  await world.clock.advance(10 * MINUTE_MS);
  expect(count()).toBeGreaterThanOrEqual(least);
  expect(count()).toBeLessThanOrEqual(most);
  lift();
  fill(false);
  await world.clock.advance(61 * MINUTE_MS);
  expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 1, pending: 0, pausedUntil: null });
});

test('on a full disk, the claim of a closed page does not block other events', async () => {
  const { world, openTab, fill } = createFullWorld();
  const gone = openTab();
  await gone.capture('claimed');
  world.service.fail({ type: 'hang' });
  void gone.delivery.flush();
  await world.settle();
  gone.kill();
  fill(true);
  await world.clock.advance(MINUTE_MS);
  await openTab().capture('waits');
  await world.clock.advance(2 * MINUTE_MS);
  expect(world.sent()).toEqual([['claimed'], ['waits']]);
  fill(false);
  await world.clock.advance(2 * MINUTE_MS);
  expect(world.sent()).toEqual([['claimed'], ['waits'], ['claimed']]);
});

test('on a full disk, an event that waits for correction does not block other events', async () => {
  const { world, openTab, fill } = createFullWorld();
  const gone = openTab({ onEventRejected: () => new Promise(() => undefined) });
  await gone.capture('skipped');
  world.service.fail({ type: 'skip', indices: [0] });
  void gone.delivery.flush();
  await world.settle();
  gone.kill();
  fill(true);
  await world.clock.advance(MINUTE_MS);
  const tab = openTab({ onEventRejected: () => null });
  await tab.capture('waits');
  await world.clock.advance(2 * MINUTE_MS);
  expect(world.sent()).toEqual([['skipped'], ['waits']]);
  fill(false);
  await world.clock.advance(2 * MINUTE_MS);
  expect(await tab.delivery.deadLetters()).toMatchObject([{ event: { bannerId: 'skipped' } }]);
});

test('ignores channel messages with missing members', async () => {
  const world = createWorld();
  const tab = world.openTab();
  await tab.capture('c1');
  const other = world.openChannel(world.name);
  for (const type of ['events-removed', 'notice', 'request-settled', 'consent']) other.postMessage({ type });
  await world.settle();
  expect(tab.getNotices('failed')).toEqual([]);
  expect(tab.notices).not.toContain(undefined);
  expect(await tab.capture('c2')).not.toBeNull();
  await tab.delivery.flush();
  expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 2 });
});

test('a onEventRejected() call that never settles does not block other events', async () => {
  const world = createWorld();
  const tab = world.openTab({ onEventRejected: () => new Promise(() => undefined) });
  await world.settle();
  world.service.fail({ type: 'skip', indices: [0, 1, 2, 3, 4] });
  await tab.captureMany(5);
  await world.clock.advance(6_000);
  await tab.capture('another');
  await world.clock.advance(6_000);
  expect(world.sent().at(-1)).toEqual(['another']);
  await world.clock.advance(MINUTE_MS);
  expect(world.sent().flat().sort()).toEqual([
    'another',
    ...Array(5)
      .fill(0)
      .flatMap((_, i) => [`b${i}`, `b${i}`]),
  ]);
});

test('calls onEventRejected() in one tab per event, and in another tab if the first one is closed', async () => {
  const world = createWorld();
  let asked = 0;
  const onEventRejected = () => {
    asked += 1;
    return new Promise<never>(() => undefined);
  };
  const first = world.openTab({ onEventRejected });
  const second = world.openTab({ onEventRejected });
  await world.settle();
  world.service.fail({ type: 'skip', indices: [0] });
  await first.capture('x');
  void first.delivery.flush();
  await world.settle();
  void second.delivery.flush();
  await world.clock.advance(3_000);
  expect(asked).toBe(1);
  first.kill();
  await world.clock.advance(MINUTE_MS);
  expect(asked).toBe(2);
});

test('limits the batch size for an hour after a batch was too large', async () => {
  const world = createWorld();
  const tab = world.openTab({ options: { maxBatchSize: 8 } });
  await world.settle();
  world.service.fail({ type: 'status', status: 413 });
  await tab.captureMany(8);
  await tab.delivery.flush();
  await world.clock.advance(MINUTE_MS);
  await tab.captureMany(8, 'click', 'u1', 'soon-');
  await tab.delivery.flush();
  await world.clock.advance(60 * MINUTE_MS);
  await tab.captureMany(8, 'click', 'u1', 'later-');
  await tab.delivery.flush();
  expect(world.sent().map((batch) => batch.length)).toEqual([8, 4, 4, 4, 4, 8]);
});

test('keeps the records of a newer version and applies its opt-out', async () => {
  const { world, store, openTab } = createFaultyWorld();
  const disk = world.disk.openStore(world.name);
  const newer: [(string | number)[], unknown][] = [
    [['dedup', 1, 'later'], { v: 2, event: 'x', at: 1 }],
    [['event', 1, 5, 'tab', 1], { v: 2, anything: true }],
    [['event', 2, 5, 'tab', 1], { v: 2, anything: true }],
  ];
  await disk.setMany(newer);
  const tab = openTab({ evictCache: async () => undefined });
  await world.settle();
  await tab.captureMany(3);
  store.fail({ type: 'reject', error: 'QuotaExceededError' }, { verbs: ['setMany'], times: 6 });
  await tab.captureMany(3);
  await world.clock.advance(3 * 60 * MINUTE_MS);
  await tab.delivery.disable('purge');
  await world.clock.advance(MINUTE_MS);
  const left = world.records().filter(([, record]) => (record as { v: number }).v === 2);
  expect(left).toEqual(newer);
  tab.kill();

  await disk.setMany([
    [['control', 1, 'meta'], undefined],
    [['control', 2, 'meta'], { v: 2, consent: 'disabled', decidedAt: 5 }],
  ]);
  world.service.clear();
  const next = world.openTab();
  expect(await next.delivery.readConsent()).toBe(false);
  expect(await next.capture('none')).toBeNull();
});

test('a purge also removes events that another page has just claimed', async () => {
  const world = createWorld();
  const disk = world.disk.openStore(world.name);
  let keys: unknown[] = [];
  const store: Store = {
    ...disk,
    async update(wanted, change) {
      const result = await disk.update<never>(wanted, change);
      // The last flush of another page, between any two steps of this one.
      const until = world.clock.now() + MINUTE_MS;
      const claim = { v: 1, id: 'other', pageId: 'other', deadline: until, exclusiveUntil: 0, keys };
      if (keys.length > 0) await disk.setMany([[claimKey('other'), claim]]);
      return result;
    },
  };
  const tab = world.openTab({ openStore: () => store, options: { maxDelayMs: 60 * MINUTE_MS } });
  await world.settle();
  world.service.fail({ type: 'drop', when: 'before' });
  await tab.captureMany(3);
  const events = () => world.records().filter(([key]) => [key].flat()[0] === 'event');
  keys = events().map(([key]) => key);
  expect(keys).toHaveLength(3);
  await tab.delivery.disable('purge');
  expect(events()).toEqual([]);
  expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 3, purged: 3, pending: 0 });
});

test('does not call onEventRejected() after stop', async () => {
  const world = createWorld();
  let calls = 0;
  const tab = world.openTab({
    onEventRejected: (event) => {
      calls += 1;
      tab.delivery.stop();
      return event;
    },
  });
  await world.settle();
  world.service.fail({ type: 'skip', indices: [0, 1] });
  await tab.captureMany(2);
  await world.clock.advance(MINUTE_MS);
  expect(calls).toBe(1);
});

test.each<[string, TabSetup]>([
  ['without', {}],
  ['unchanged by', { onEventRejected: (event) => event }],
])(
  'with an infinite maxDelayMs a skipped event %s a correction leaves with a later flush',
  async (_, setup) => {
    const world = createWorld();
    const tab = world.openTab({ ...setup, options: { maxDelayMs: Number.POSITIVE_INFINITY } });
    await world.settle();
    world.service.fail({ type: 'skip', indices: [0] });
    await tab.capture('b1');
    expect(await tab.delivery.flush()).toEqual({ delivered: 0, pending: 1 });
    await world.clock.advance(10 * MINUTE_MS);
    expect(await tab.delivery.flush()).toEqual({ delivered: 1, pending: 0 });
  },
);
