// @vitest-environment node
import { expect, test } from 'vitest';
import type { Store, StoreKey } from '../../../src/client/platform/store.ts';
import { assertConserved, assertDeliveredExactlyOnce } from '../../../src/testing/index.ts';
import { createFaultyWorld, createWorld } from './world.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

test.each([
  ['a lease', 0],
  ['a settlement', 1],
])('case 42: reports %s whose response is lost after its commit once, without a wait', async (_, nth) => {
  const world = createWorld();
  const disk = world.disk.openStore(world.name);
  let batchWrites = 0;
  const tab = world.openTab({
    openStore: () => ({
      ...disk,
      async update(keys, change) {
        await disk.update(keys, change);
        const kinds = keys.map((key) => (key as StoreKey[])[0]);
        if (!kinds.includes('event')) return;
        batchWrites += 1;
        if (batchWrites === nth + 1) await disk.update(keys, change);
      },
    }),
  });
  world.service.fail({ type: 'skip', indices: [1] });
  await tab.captureMany(2, 'dismiss');
  expect(await tab.delivery.flush()).toEqual({ delivered: 1, pending: 1 });
  expect(batchWrites).toBeGreaterThan(nth);
  expect(tab.getNotices('delivered').flatMap(({ events }) => events)).toMatchObject([{ bannerId: 'b0' }]);
  expect(tab.getNotices('rejected')).toMatchObject([{ event: { bannerId: 'b1' }, attempts: 1 }]);
  const diagnostics = await tab.delivery.diagnostics();
  expect(diagnostics).toMatchObject({ captured: 2, delivered: 1, pending: 1, inDoubt: 0 });
  assertConserved(diagnostics);
});

test.each([
  ['mark of the onEventRejected() call', 2],
  ['decision to drop it', 3],
])(
  'case 42: for a skipped event, a %s that is committed and retried reaches the host once, at once',
  async (_, nth) => {
    const world = createWorld();
    const disk = world.disk.openStore(world.name);
    let batchWrites = 0;
    let asked = 0;
    const tab = world.openTab({
      onEventRejected: () => {
        asked += 1;
        return null;
      },
      openStore: () => ({
        ...disk,
        async update(keys, change) {
          await disk.update(keys, change);
          if (!keys.some((key) => (key as StoreKey[])[0] === 'event')) return;
          batchWrites += 1;
          if (batchWrites === nth + 1) await disk.update(keys, change);
        },
      }),
    });
    world.service.fail({ type: 'skip', indices: [0] });
    await tab.captureMany(1, 'dismiss');
    await tab.delivery.flush();
    await world.settle();
    expect(batchWrites).toBe(4);
    expect(asked).toBe(1);
    expect(tab.getNotices('dropped')).toMatchObject([{ event: { bannerId: 'b0' }, reason: 'rejected' }]);
    const diagnostics = await tab.delivery.diagnostics();
    expect(diagnostics).toMatchObject({ captured: 1, pending: 0, deadLetters: 1 });
    assertConserved(diagnostics);
  },
);

test.each(['setMany', 'update'] as const)(
  'case 42: stores and sends an event once if its %s was committed without a response',
  async (verb) => {
    const { world, store, openTab } = createFaultyWorld();
    // The platform's store retries once after a lost connection; here the test does.
    const again =
      <A extends unknown[]>(work: (...values: A) => Promise<void>) =>
      (...values: A) =>
        work(...values).catch(() => work(...values));
    const update = again(store.update) as Store['update'];
    const tab = openTab({ openStore: () => ({ ...store, setMany: again(store.setMany), update }) });
    await world.settle();
    store.fail({ type: 'lose-answer' }, { verbs: [verb] });
    const events = await Promise.all(
      ['b1', 'b2'].map((bannerId) => {
        const once = verb === 'update' ? { dedupName: bannerId } : {};
        return tab.delivery.capture({ type: 'click', bannerId, placementId: 'p', userId: 'u1', ...once });
      }),
    );
    await tab.delivery.flush();
    assertDeliveredExactlyOnce(world.service.events, events as never);
    expect(await tab.delivery.diagnostics()).toMatchObject({
      captured: 2,
      delivered: 2,
      memoryMode: false,
    });
    expect(world.service.requests).toHaveLength(1);
  },
);

test('case 43: at the quota, evicts caches first, then impressions if needed, without an exception in the page', async () => {
  const { world, store, openTab } = createFaultyWorld();
  const order: string[] = [];
  const tab = openTab({
    options: { maxDelayMs: DAY_MS },
    evictCache: async () => {
      order.push('cache');
    },
  });
  await tab.captureMany(10, 'impression');
  await tab.captureMany(10, 'click');
  await tab.captureMany(10, 'dismiss');
  store.fail({ type: 'reject', error: 'QuotaExceededError' }, { verbs: ['setMany'] });
  await tab.capture('fits', 'impression');
  expect(order).toEqual(['cache']);
  expect(tab.getNotices('dropped')).toEqual([]);
  order.length = 0;
  store.fail({ type: 'reject', error: 'QuotaExceededError' }, { verbs: ['setMany'], times: 2 });
  const event = await tab.capture('last', 'click');
  expect(event).toMatchObject({ bannerId: 'last' });
  order.push(...tab.getNotices('dropped').map(({ event: { type } }) => type));
  expect(order[0]).toBe('cache');
  expect(order.slice(1)).toEqual(Array.from({ length: 11 }, () => 'impression'));
  const diagnostics = await tab.delivery.diagnostics();
  expect(diagnostics).toMatchObject({ captured: 32, evicted: 11, pending: 21 });
  assertConserved(diagnostics);
  expect(world.clock.pending()).toBeGreaterThan(0);
});

test('case 43: at the quota without impressions, evicts clicks before older dismissals', async () => {
  const { store, openTab } = createFaultyWorld();
  const tab = openTab({ options: { maxDelayMs: DAY_MS } });
  await tab.captureMany(10, 'dismiss');
  await tab.captureMany(10, 'click');
  store.fail({ type: 'reject', error: 'QuotaExceededError' }, { verbs: ['setMany'], times: 2 });
  await tab.capture('last', 'click');
  expect(tab.getNotices('dropped').map(({ event: { type } }) => type)).toEqual(Array(10).fill('click'));
});

test.each([
  ['impression', ['click', 'dismiss']],
  ['click', ['dismiss']],
] as const)(
  'case 43: at the quota, a new %s does not evict events of more value, and waits in memory',
  async (type, others) => {
    const { world, store, openTab } = createFaultyWorld();
    const tab = openTab({ options: { maxDelayMs: DAY_MS } });
    for (const other of others) await tab.captureMany(10, other);
    store.fail({ type: 'reject', error: 'QuotaExceededError' }, { verbs: ['setMany', 'update'], times: 2 });
    const once = type === 'impression' ? { dedupName: 'session b1' } : {};
    const event = { type, bannerId: 'new', placementId: 'p', userId: 'u1', ...once };
    expect(await tab.delivery.capture(event)).toMatchObject({ bannerId: 'new' });
    expect(tab.getNotices('dropped')).toEqual([]);
    expect(await tab.delivery.diagnostics()).toMatchObject({ memoryMode: true, pending: 1, evicted: 0 });
    tab.tell('visible');
    await world.settle();
    await tab.delivery.flush();
    const left = others.length * 10 + 1;
    expect(await tab.delivery.diagnostics()).toMatchObject({
      memoryMode: false,
      delivered: left,
      evicted: 0,
    });
    assertConserved(await tab.delivery.diagnostics());
  },
);

test('case 43: continues in memory mode if no record is left to evict', async () => {
  const { world, store, openTab } = createFaultyWorld();
  const tab = openTab();
  await world.settle();
  store.fail(
    { type: 'reject', error: 'QuotaExceededError' },
    { verbs: ['update', 'setMany'], times: Number.POSITIVE_INFINITY },
  );
  expect(await tab.capture('a')).toMatchObject({ bannerId: 'a' });
  expect(tab.getNotices('memory-mode')).toMatchObject([{ on: true }]);
  await tab.delivery.flush();
  expect(world.sent()).toEqual([['a']]);
});

test('case 43: enters memory mode if the disk is too full to delete, and does not reject events', async () => {
  const { world, store, openTab } = createFaultyWorld();
  const tab = openTab({
    options: { maxDelayMs: DAY_MS },
    evictCache: () => Promise.reject(new Error('the cache is broken too')),
  });
  await tab.captureMany(10, 'impression');
  const lift = store.fail(
    { type: 'reject', error: 'QuotaExceededError' },
    { verbs: ['update', 'setMany'], times: Number.POSITIVE_INFINITY },
  );
  expect(await tab.captureMany(5, 'click')).not.toContain(null);
  expect(tab.getNotices('memory-mode')).toMatchObject([{ on: true }]);
  lift();
  tab.tell('visible');
  await world.settle();
  const diagnostics = await tab.delivery.diagnostics();
  expect(diagnostics).toMatchObject({ captured: 15, pending: 15, memoryMode: false });
  assertConserved(diagnostics);
});
test('case 44: does not read or delete records of another version', async () => {
  const world = createWorld();
  const store = world.disk.openStore(world.name);
  const foreign: [StoreKey, unknown][] = [
    [['control', 2, 'meta'], { v: 2, layout: 'unknown' }],
    [['event', 1, 5, 5], { v: 2, what: 'tomorrow in our place' }],
    [['event', 2, 1, 1], { v: 2, what: 'an event of tomorrow' }],
  ];
  await store.setMany(foreign);
  const tab = world.openTab();
  await tab.captureMany(3);
  await tab.delivery.flush();
  await world.clock.advance(10 * MINUTE_MS);
  expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 3, delivered: 3, pending: 0 });
  expect(world.records().filter(([, value]) => (value as { v: number }).v === 2)).toEqual(foreign);
});

test('case 46: removes only the corrupt record', async () => {
  const world = createWorld();
  const first = world.openTab();
  await first.captureMany(3);
  first.kill();
  const store = world.disk.openStore(world.name);
  const [key] = world.records().find(([, value]) => (value as { bannerId?: string }).bannerId === 'b1')!;
  await store.setMany([[key, { v: 1, type: 'click', time: 'yesterday' }]]);
  const tab = world.openTab();
  await world.clock.advance(MINUTE_MS);
  expect(world.sent()).toEqual([['b0', 'b2']]);
  const diagnostics = await tab.delivery.diagnostics();
  expect(diagnostics).toMatchObject({ captured: 3, delivered: 2, evicted: 1, pending: 0 });
  assertConserved(diagnostics);
  expect(tab.getNotices('failed')).toMatchObject([{ kind: 'storage' }]);
  expect(world.records().map(([recordKey]) => (recordKey as string[])[0])).toEqual(['control']);
});

test('case 46: recreates a corrupt counter record, and sends every event', async () => {
  const world = createWorld();
  const first = world.openTab();
  await first.captureMany(3);
  first.kill();
  await world.disk.openStore(world.name).setMany([[['control', 1, 'meta'], 'garbage']]);
  const tab = world.openTab();
  await tab.capture('b9');
  await world.clock.advance(MINUTE_MS);
  expect(world.sent().flat()).toEqual(['b0', 'b1', 'b2', 'b9']);
  const diagnostics = await tab.delivery.diagnostics();
  assertConserved(diagnostics);
  expect(diagnostics).toMatchObject({ captured: 4, delivered: 4, pending: 0 });
});

test.each([{ sender: undefined }, { sender: {} }, { consent: undefined }])(
  'case 46: recreates a counter record with %j, and sends every event',
  async (change) => {
    const world = createWorld();
    const first = world.openTab();
    await first.captureMany(3);
    first.kill();
    const store = world.disk.openStore(world.name);
    const key: StoreKey = ['control', 1, 'meta'];
    await store.setMany([[key, { ...(await store.get<object>(key)), ...change }]]);
    const tab = world.openTab();
    await tab.capture('b9');
    await world.clock.advance(MINUTE_MS);
    expect(world.sent().flat()).toEqual(['b0', 'b1', 'b2', 'b9']);
    assertConserved(await tab.delivery.diagnostics());
  },
);

test('case 48: adapts the cap to a tiny quota', async () => {
  const { world, store, openTab } = createFaultyWorld();
  const tab = openTab({ options: { maxBatchSize: 1_000, maxDelayMs: DAY_MS } });
  await tab.captureMany(40, 'click');
  store.fail({ type: 'reject', error: 'QuotaExceededError' }, { verbs: ['setMany'], times: 2 });
  await tab.captureMany(10, 'click');
  await tab.captureMany(40, 'click');
  await world.settle();
  const diagnostics = await tab.delivery.diagnostics();
  assertConserved(diagnostics);
  expect(diagnostics.pending).toBeLessThanOrEqual(30);
  expect(tab.getNotices('memory-mode')).toEqual([]);
});

test('evicts impressions first, oldest first, and dismissals last if the count exceeds the cap', async () => {
  const world = createWorld();
  const tab = world.openTab({ options: { maxEvents: 20, maxDelayMs: DAY_MS } });
  await tab.captureMany(5, 'dismiss');
  await tab.captureMany(10, 'click');
  await tab.captureMany(10, 'impression');
  await world.settle();
  const dropped = tab.getNotices('dropped');
  expect(dropped.map(({ event }) => `${event.type} ${event.bannerId}`)).toEqual(
    ['b0', 'b1', 'b2', 'b3', 'b4', 'b5'].map((id) => `impression ${id}`),
  );
  expect(dropped.every(({ reason }) => reason === 'evicted')).toBe(true);
  await tab.captureMany(18, 'dismiss');
  await world.settle();
  const diagnostics = await tab.delivery.diagnostics();
  assertConserved(diagnostics);
  expect(diagnostics.pending).toBeLessThanOrEqual(20);
  const kinds = world.records().map(([, value]) => (value as { type?: string }).type);
  expect(kinds.filter((type) => type === 'impression' || type === 'click')).toEqual([]);
});

test('evicts events if their size exceeds the cap in bytes', async () => {
  const world = createWorld();
  const tab = world.openTab({ options: { maxBytes: 10_000, maxBatchSize: 1_000, maxDelayMs: DAY_MS } });
  await tab.captureMany(200, 'impression');
  await world.settle();
  const size = JSON.stringify(world.records().filter(([key]) => (key as string[])[0] === 'event')).length;
  expect(size).toBeLessThanOrEqual(13_000);
  expect(size).toBeGreaterThan(6_000);
  assertConserved(await tab.delivery.diagnostics());
});

test('expires and counts events older than seven days one hour after a page first detects them', async () => {
  const world = createWorld();
  const first = world.openTab();
  world.service.fail({ type: 'drop', when: 'before' }, { times: Number.POSITIVE_INFINITY });
  await first.captureMany(3);
  void first.delivery.flush();
  await world.settle();
  await first.captureMany(2, 'impression');
  first.kill();
  await world.clock.advance(8 * DAY_MS);
  world.openTab().kill();
  await world.settle();
  const second = world.openTab();
  await world.clock.advance(DAY_MS / 24 + 10 * 60_000);
  const diagnostics = await second.delivery.diagnostics();
  expect(diagnostics).toMatchObject({ captured: 5, expired: 5, pending: 0, inDoubt: 0 });
  assertConserved(diagnostics);
  expect(second.getNotices('dropped').map(({ reason }) => reason)).toEqual(Array(5).fill('expired'));
});

test('does not expire newer events at the next check if a wrong clock makes them too old', async () => {
  const world = createWorld();
  const tab = world.openTab({ options: { maxAgeMs: DAY_MS / 2 } });
  world.service.fail({ type: 'drop', when: 'before' }, { times: Number.POSITIVE_INFINITY });
  await tab.captureMany(2);
  await world.clock.advance(DAY_MS / 2);
  await world.clock.advance(DAY_MS / 12);
  expect(await tab.delivery.diagnostics()).toMatchObject({ expired: 2 });
  await tab.captureMany(3);
  // The device's clock is a year ahead at the page's next check.
  world.clock.jump(365 * DAY_MS);
  await world.clock.advance(DAY_MS / 24 - 60_000);
  expect(await tab.delivery.diagnostics()).toMatchObject({ expired: 2 });
});

const CONTROL: StoreKey = ['control', 1, 'meta'];

test('case 44: continues in memory mode if a newer version owns the log, and does not change the log', async () => {
  for (const isThere of ['before the page', 'under the open page'] as const) {
    const world = createWorld();
    const disk = world.disk.openStore(world.name);
    const record = { v: 2, consent: 'enabled', layout: 'unknown' };
    const tab = world.openTab();
    if (isThere === 'before the page') await disk.setMany([[CONTROL, record]]);
    await tab.capture('first');
    await disk.setMany([[CONTROL, record]]);
    await tab.capture('second');
    await tab.delivery.flush();
    expect(await tab.delivery.diagnostics()).toMatchObject({ memoryMode: true });
    expect(tab.getNotices('memory-mode')).toMatchObject([
      { on: true, reason: expect.stringContaining('newer version') },
    ]);
    await tab.capture('later');
    await world.clock.advance(10 * MINUTE_MS);
    expect(world.sent().flat()).toContain('later');
    expect(world.state()).toEqual(record);
  }
});

test('case 44: applies an opt-out that a newer version stored', async () => {
  const world = createWorld();
  const record = { v: 2, consent: 'disabled' };
  await world.disk.openStore(world.name).setMany([[CONTROL, record]]);
  const tab = world.openTab();
  expect(await tab.delivery.readConsent()).toBe(false);
  expect(await tab.capture()).toBeNull();
  await world.clock.advance(10 * MINUTE_MS);
  expect(world.service.requests).toEqual([]);
  expect(tab.getNotices('consent')).toEqual([{ type: 'consent', state: 'disabled' }]);
  expect(world.records()).toEqual([[CONTROL, record]]);
});

test('case 43: does not write a click again if the disk is full at the impression stored with it', async () => {
  const { world, store, openTab } = createFaultyWorld();
  const tab = openTab({
    options: { maxDelayMs: 60_000 },
    // In the meantime, another tab sends the stored events.
    async evictCache() {
      await world.openTab().delivery.flush();
    },
  });
  await world.settle();
  await tab.capture('warm', 'impression');
  store.fail({ type: 'reject', error: 'QuotaExceededError' }, { verbs: ['update'] });
  const impression = { type: 'impression', bannerId: 'b1', placementId: 'p1', userId: 'u1' } as const;
  await Promise.all([tab.capture('b1'), tab.delivery.capture({ ...impression, dedupName: 'session b1' })]);
  await tab.delivery.flush();
  expect(
    world
      .sent()
      .flat()
      .filter((id) => id === 'b1'),
  ).toHaveLength(2);
  assertConserved(await tab.delivery.diagnostics());
});
