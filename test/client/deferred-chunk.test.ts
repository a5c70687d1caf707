import { expect, test, vi } from 'vitest';
import { createStoreDecision, storeWithoutDelivery } from '../../src/client/decide.ts';
import { createDeferredChunk, findUrl, retryImport } from '../../src/client/deferred-chunk.ts';
import { LOG_STATE_KEY, newLogState, readLogState } from '../../src/client/delivery/log/records.ts';
import { logName } from '../../src/client/options/options.ts';
import { createPermission, type Decision, type Permission } from '../../src/client/permission.ts';
import { createMemoryStore, type Store, type StoreKey } from '../../src/client/platform/store.ts';
import { createFakeService, createFaultyStore, createVirtualClock } from '../../src/testing/index.ts';
import { patience } from '../helpers/patience.ts';
import { deafLink } from './delivery/world.ts';
import { aProfile, aSlot, draw, hero, open, PATIENCE, someChannels, stagePages } from './pages.ts';

/** Number of further imports of the later chunk that fail. */
const network = vi.hoisted(() => ({ failures: 0 }));
vi.mock('../../src/client/deferred-client.ts', async (original) => {
  const { createDeferredClient } = await original<typeof import('../../src/client/deferred-client.ts')>();
  return {
    get createDeferredClient() {
      if (network.failures === 0) return createDeferredClient;
      network.failures -= 1;
      throw new TypeError('Failed to fetch dynamically imported module');
    },
  };
});

stagePages();

/** Pages of one browser profile, one after the other. */
const aBrowser = () => {
  const service = createFakeService({ banners: { home_hero: hero } });
  const openStore = aProfile();
  const visit = () => {
    const page = open({ service, openStore });
    page.placard.mount('home_hero', aSlot(), draw);
    return page;
  };
  return { service, openStore, visit };
};

test('case 40: an opt-out before the deferred chunk loads applies after the load and on the next visit', async () => {
  const { service, openStore, visit } = aBrowser();
  const { placard, heard } = visit();
  await heard('synced');
  await placard.track(placard.banner('home_hero')!, 'click');
  placard.stop();
  service.clear();

  network.failures = 2;
  const second = visit();
  const optedOut = second.placard.disable('purge');
  await vi.advanceTimersByTimeAsync(60_000);
  await optedOut;
  expect(network.failures).toBe(0);
  expect(service.requests).toEqual([]);
  expect(await second.placard.diagnostics()).toMatchObject({ pending: 0, inDoubt: 0 });
  expect(await openStore('placard-banners').entries()).toEqual([]);
  second.placard.stop();

  const third = visit();
  await third.heard('consent');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(third.notices.filter(({ type }) => type === 'consent')).toHaveLength(1);
  expect(service.requests).toEqual([]);
  third.placard.stop();
});

test('requests a missing chunk with a growing backoff and loads it once it is available', async () => {
  const { service, visit } = aBrowser();
  const first = visit();
  await first.heard('synced');
  first.placard.stop();
  service.clear();

  const MANY = 1_000;
  network.failures = MANY;
  const { placard, heard, notices } = visit();
  await heard('shown');
  const click = placard.track(placard.banner('home_hero')!, 'click');
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  const tries = MANY - network.failures;
  expect(tries).toBeGreaterThan(8);
  // The click and the session wait for the same retries: after 2, 4, 8, 16 and 32 seconds, then once a minute.
  expect(tries).toBeLessThan(18);
  const failed = notices.filter((notice) => notice.type === 'failed');
  expect(failed.length).toBeGreaterThan(8);
  expect(failed[0]).toMatchObject({
    kind: 'chunk-load',
    message: expect.stringContaining('Failed to fetch'),
  });

  network.failures = 0;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await click).toMatchObject({ type: 'click' });
  placard.stop();
});

test('keeps the user opted in after an opt-out and an opt-in before the chunk loads, here and on the next visit', async () => {
  const { service, visit } = aBrowser();
  const { placard, notices, heard } = visit();
  await Promise.all([placard.disable(), placard.enable()]);
  await heard('synced');
  const states = notices.flatMap((notice) => (notice.type === 'consent' ? [notice.state] : []));
  expect(states.at(-1)).toBe('enabled');
  placard.stop();
  service.clear();
  const next = visit();
  await next.heard('shown');
  expect(await next.placard.track(next.placard.banner('home_hero')!, 'click')).toMatchObject({
    type: 'click',
  });
  next.placard.stop();
});

test('a flush right after a click delivers it, with or without the loaded chunk', async () => {
  const { visit } = aBrowser();
  const first = visit();
  await first.heard('synced');
  first.placard.stop();
  const { placard, heard } = visit();
  await heard('shown');
  const click = placard.track(placard.banner('home_hero')!, 'click');
  expect(await placard.flush()).toMatchObject({ delivered: 1, pending: 0 });
  expect(await click).toMatchObject({ type: 'click' });
  placard.stop();
});

/** A part whose first `failures` loads fail, and the errors that it reported. */
const aDeferredChunk = (failures: number) => {
  const clock = createVirtualClock();
  const reported: string[] = [];
  const part = { stop: vi.fn(), loads: 0 };
  const load = async () => {
    part.loads += 1;
    if (part.loads <= failures) throw new Error('offline');
    return part;
  };
  const deferred = createDeferredChunk(load, clock.after, (kind, message) =>
    reported.push(`${kind}: ${message}`),
  );
  return { deferred, part, clock, reported };
};

test('does not report again that a chunk of the client cannot be loaded', async () => {
  const { deferred, reported } = aDeferredChunk(0);
  const missing = Object.assign(new Error('offline'), { isReported: true });
  expect(await deferred.run(() => Promise.reject(missing), 'otherwise')).toBe('otherwise');
  expect(reported).toEqual([]);
});

test('a call that loads the chunk runs pending work in call order', async () => {
  const { deferred, clock } = aDeferredChunk(1);
  const done: string[] = [];
  const note = (name: string) => async () => void done.push(name);
  const waits = [deferred.run(note('session')), deferred.run(note('click'))];
  await clock.advance(0);
  expect(done).toEqual([]);
  await Promise.all([deferred.run(note('flush'), undefined), ...waits]);
  expect(done).toEqual(['session', 'click', 'flush']);
});

test('a failed load settles work that has a fallback and keeps the rest for the next attempt', async () => {
  const { deferred, clock, reported, part } = aDeferredChunk(2);
  const optIn = deferred.run(async () => 'stored');
  expect(await deferred.run(async () => 'counted', 'unknown')).toBe('unknown');
  expect(reported).toEqual(['chunk-load: Chunk failed to load: Error: offline']);
  await clock.advance(2_000);
  await clock.advance(4_000);
  expect(await optIn).toBe('stored');
  expect(part.loads).toBe(3);
});

test('a stopped client settles pending work and leaves no timers', async () => {
  const { deferred, clock, part } = aDeferredChunk(1);
  const click = deferred.run(async () => 'stored');
  await clock.advance(0);
  deferred.stop();
  expect(await click).toBeNull();
  await clock.advance(10 * 60_000);
  expect(part.loads).toBe(1);
});

test('a chunk that loads after stop stores pending work, does not send other requests, and stops', async () => {
  const { deferred, part } = aDeferredChunk(0);
  const click = deferred.run(async ({ stop }) => (stop.mock.calls.length === 0 ? 'stored' : 'too late'));
  const refresh = deferred.run(async () => 'requested', 'dropped');
  deferred.stop();
  expect(await click).toBe('stored');
  expect(await refresh).toBe('dropped');
  expect(part.stop).toHaveBeenCalledOnce();
});

test('the next page delivers a click from a client that stopped before the chunk loaded', async () => {
  const { service, visit } = aBrowser();
  const first = visit();
  await first.heard('synced');
  await first.placard.flush();
  first.placard.stop();
  const second = visit();
  await second.heard('shown');
  const click = second.placard.track(second.placard.banner('home_hero')!, 'click');
  second.placard.stop();
  expect(await click).toMatchObject({ type: 'click' });
  const third = visit();
  await vi.waitFor(() => expect(service.events.map(({ type }) => type)).toContain('click'), {
    timeout: patience(15_000),
  });
  third.placard.stop();
});

test('a hanging load counts as failed after 10 seconds for work with a fallback, and the rest runs once it loads', async () => {
  const clock = createVirtualClock();
  const part = { stop: vi.fn() };
  let arrive: (client: typeof part) => void = () => undefined;
  const load = () =>
    new Promise<typeof part>((resolve) => {
      arrive = resolve;
    });
  const deferred = createDeferredChunk(load, clock.after, vi.fn());
  const done: string[] = [];
  const note = (name: string) => async () => void done.push(name);
  const optedOut = deferred.runWithFallback(note('opt-out'), note('meanwhile')).then(note('over'));
  await clock.advance(9_999);
  expect(done).toEqual([]);
  await clock.advance(1);
  expect(done).toEqual(['meanwhile', 'over']);
  await optedOut;
  arrive(part);
  await clock.advance(0);
  expect(done).toEqual(['meanwhile', 'over', 'opt-out']);
  expect(clock.pending()).toBe(0);
});

test('settles a load in time and leaves no timers', async () => {
  const { deferred, clock } = aDeferredChunk(0);
  const done: string[] = [];
  const note = (name: string) => async () => void done.push(name);
  await deferred.runWithFallback(note('opt-out'), note('meanwhile'));
  expect(done).toEqual(['opt-out']);
  expect(clock.pending()).toBe(0);
});

test('a stopped client loads the chunk for an opt-out or a wipe, but not for work with a fallback', async () => {
  const { deferred, part } = aDeferredChunk(0);
  deferred.stop();
  expect(await deferred.run(async () => 'counted', 'unknown')).toBe('unknown');
  expect(part.loads).toBe(0);
  expect(await deferred.run(async () => 'stored')).toBe('stored');
  expect(part.loads).toBe(1);
});

test('treats an exception in the work as a client bug and returns the fallback', async () => {
  const { deferred, reported } = aDeferredChunk(0);
  expect(await deferred.run(() => Promise.reject(new Error('oops')), 'nothing')).toBe('nothing');
  expect(reported).toEqual(['internal: Error: oops']);
});

test.each(['keep', 'purge', 'wipe'] as const)(
  'if the chunk cannot load, a %s settles and applies on the next visit',
  async (policy) => {
    const { service, openStore, visit } = aBrowser();
    const first = visit();
    await first.heard('synced');
    await first.placard.track(first.placard.banner('home_hero')!, 'click');
    first.placard.stop();
    service.clear();
    localStorage.setItem('placard-heights:app', '{}');

    network.failures = Number.POSITIVE_INFINITY;
    const { placard } = visit();
    await (policy === 'wipe' ? placard.wipe() : placard.disable(policy));
    placard.stop();
    network.failures = 0;
    expect(await openStore('placard-banners').entries()).toEqual([]);
    const log = await openStore(logName(service.origin, 'app')).entries();
    const events = log.filter(([key]) => (key as string[])[0] === 'event');
    expect(events).toHaveLength(policy === 'keep' ? 1 : 0);
    expect(localStorage).toHaveLength(0);
    if (policy === 'wipe') return expect(log).toEqual([]);

    const next = visit();
    await next.heard('consent');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(service.requests).toEqual([]);
    next.placard.stop();
  },
);

test.each(['keep', 'wipe'] as const)(
  'if the chunk cannot load, the other tabs receive a %s',
  async (policy) => {
    const openChannel = someChannels();
    const service = createFakeService({ banners: { home_hero: hero } });
    const openStore = aProfile();
    const other = open({ service, openStore, platform: { openChannel } });
    other.placard.mount('home_hero', aSlot(), draw);
    await other.heard('synced');
    network.failures = Number.POSITIVE_INFINITY;
    const { placard } = open({ service, openStore, platform: { openChannel } });
    await (policy === 'wipe' ? placard.wipe() : placard.disable(policy));
    network.failures = 0;
    await other.heard('consent');
    expect(other.placard.banner('home_hero')).toBeUndefined();
  },
);

test('a purge without the chunk does not delete events captured after the next opt-in, once the chunk loads', async () => {
  const { service, openStore, visit } = aBrowser();
  const first = visit();
  await first.heard('synced');
  await first.placard.track(first.placard.banner('home_hero')!, 'click');
  first.placard.stop();
  const log = openStore(logName(service.origin, 'app'));
  const events = (await log.entries()).filter(([key]) => (key as string[])[0] === 'event');

  network.failures = Number.POSITIVE_INFINITY;
  const { placard } = visit();
  await placard.disable('purge');
  await placard.enable();
  // Another tab captures an event.
  await log.setMany(events);
  network.failures = 0;
  service.clear();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(service.requests.filter(({ path }) => path.endsWith('/track'))).toHaveLength(1);
  placard.stop();
});

test('a purge that the disk rejects without the chunk applies once the chunk loads, even after an opt-in', async () => {
  const { service, openStore, visit } = aBrowser();
  const first = visit();
  await first.heard('synced');
  const log = openStore(logName(service.origin, 'app'));
  service.fail({ type: 'status', status: 503 }, { times: Number.POSITIVE_INFINITY });
  await first.placard.track(first.placard.banner('home_hero')!, 'click');
  first.placard.stop();
  const events = async () => (await log.entries()).filter(([key]) => (key as string[])[0] === 'event');
  expect(await events()).toHaveLength(1);

  network.failures = Number.POSITIVE_INFINITY;
  const broken = createFaultyStore(log);
  broken.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
  const { placard } = open({
    service,
    openStore: (name) => (name === logName(service.origin, 'app') ? broken : openStore(name)),
  });
  await placard.disable('purge');
  await placard.enable();
  broken.recover();
  network.failures = 0;
  await vi.advanceTimersByTimeAsync(120_000);
  expect(await events()).toEqual([]);
  placard.stop();
});

/** State of a page before the rest is loaded. */
const page = (store: Store) => ({
  logName: 'log',
  platform: { openStore: () => store, openChannel: deafLink },
});

/** Permission of a page whose user decided at the given time, in the past. */
const decided = (decision: Decision, at: number, initial: 'enabled' | 'disabled' = 'disabled') => {
  let now = at;
  const consent = createPermission(
    initial,
    () => now,
    () => false,
  );
  void consent.decide(decision);
  now = 100;
  return consent;
};

const carryOut = (setup: ReturnType<typeof page>, decision: Decision, permission: Permission) =>
  storeWithoutDelivery(setup, decision, permission, createStoreDecision(decision, permission));

test('the delivery module reads the consent record that the client wrote without it', async () => {
  const store = createMemoryStore();
  await store.setMany([[LOG_STATE_KEY, { ...newLogState('enabled'), delivered: 3 }]]);
  await carryOut(page(store), 'keep', decided('keep', 5));
  const record = await store.get(LOG_STATE_KEY);
  expect(readLogState(record, 'enabled')).toEqual({ ...newLogState('disabled'), delivered: 3, decidedAt: 5 });
  const newer = { v: 2, consent: 'enabled' };
  await store.setMany([[LOG_STATE_KEY, newer]]);
  await carryOut(page(store), 'keep', decided('keep', 6));
  expect(await store.get(LOG_STATE_KEY)).toEqual(newer);
});

test('a purge without the delivery module removes the queue, but not totals or records of a newer version', async () => {
  const store = createMemoryStore();
  const event = { v: 1, type: 'click', bannerId: 'b', placementId: 'p', userId: 'u', time: 5 };
  const newer: [StoreKey, unknown][] = [
    [['control', 2, 'meta'], { v: 2, consent: 'enabled' }],
    [['dead', 2, 5, 'tab', 1], { v: 2 }],
    [['event', 2, 5, 'tab', 1], { v: 2 }],
  ];
  await store.setMany([
    [LOG_STATE_KEY, { ...newLogState('enabled'), delivered: 3, purged: 1 }],
    [['event', 1, 5, 'tab', 1], event],
    [['event', 1, 6, 'tab', 2], event],
    [['dead', 1, 4, 'tab', 0], { v: 1, event, reason: 'no' }],
    ...newer,
  ]);
  await carryOut(page(store), 'purge', decided('purge', 7));
  const state = { ...newLogState('disabled'), delivered: 3, purged: 1, decidedAt: 7 };
  expect(await store.entries()).toEqual([[LOG_STATE_KEY, state], ...newer]);
  await carryOut(page(store), 'wipe', decided('wipe', 8));
  expect(await store.entries()).toEqual([]);
});

test('keeps a click captured before the chunk loads if an opt-out (keep) follows', async () => {
  const { openStore, service, visit } = aBrowser();
  const first = visit();
  await first.heard('synced');
  first.placard.stop();
  const { placard } = visit();
  await vi.waitFor(() => expect(placard.banner('home_hero')).toBeTruthy(), PATIENCE);
  network.failures = 1;
  const clicked = placard.track(placard.banner('home_hero')!, 'click');
  const disabled = placard.disable('keep');
  await vi.advanceTimersByTimeAsync(10_000);
  await disabled;
  expect(await clicked).toMatchObject({ type: 'click' });
  const log = await openStore(logName(service.origin, 'app')).entries();
  expect(log.filter(([key]) => (key as string[])[0] === 'event')).toHaveLength(1);
  placard.stop();
});

test('a sign-in settles if the chunk cannot load, and removes all data of the previous user', async () => {
  const { openStore, visit } = aBrowser();
  const first = visit();
  await first.heard('synced');
  first.placard.stop();
  network.failures = Number.POSITIVE_INFINITY;
  const { placard, heard } = visit();
  await vi.waitFor(() => expect(placard.banner('home_hero')).toBeTruthy(), PATIENCE);
  await placard.identify('u-2');
  await heard('failed');
  expect(placard.banner('home_hero')).toBeUndefined();
  expect(await openStore('placard-banners').entries()).toEqual([]);
  network.failures = 0;
  await heard('synced');
  const users = (await openStore('placard-banners').entries()).map(([key]) => (key as string[]).at(-1));
  expect(users).toEqual(['u-2']);
  placard.stop();
});

test('a purge removes a click that waits for the chunk, even if an opt-in precedes the load', async () => {
  const { visit } = aBrowser();
  const first = visit();
  await first.heard('synced');
  first.placard.stop();
  network.failures = Number.POSITIVE_INFINITY;
  const { placard } = visit();
  await vi.waitFor(() => expect(placard.banner('home_hero')).toBeTruthy(), { timeout: patience(30_000) });
  const clicked = placard.track(placard.banner('home_hero')!, 'click');
  await placard.disable('purge');
  await placard.enable();
  network.failures = 0;
  await vi.advanceTimersByTimeAsync(120_000);
  expect(await clicked).toBeNull();
  placard.stop();
});

test.each<[Decision, unknown[]]>([
  ['keep', [{ type: 'consent', consent: 'disabled', decidedAt: 5 }]],
  ['wipe', [{ type: 'consent', consent: 'wiped', decidedAt: 5 }]],
  ['enable', []],
])('without the chunk the other tabs receive an opt-out, but no opt-in (%s)', async (decision, told) => {
  const sent: unknown[] = [];
  const channel = {
    postMessage: (message: unknown) => sent.push(message),
    close: () => undefined,
  };
  const { logName, platform } = page(createMemoryStore());
  const setup = { logName, platform: { ...platform, openChannel: () => channel as never } };
  await carryOut(setup, decision, decided(decision, 5));
  expect(sent).toEqual(told);
});

test('an opt-in settles if the chunk cannot load, and applies on the next visit', async () => {
  const { service, openStore, visit } = aBrowser();
  const first = visit();
  await first.heard('synced');
  await first.placard.disable('keep');
  first.placard.stop();
  // If opt-in and opt-out had the same millisecond, the opt-in would be the earlier choice.
  await vi.advanceTimersByTimeAsync(1);
  network.failures = Number.POSITIVE_INFINITY;
  const second = visit();
  await second.placard.enable();
  second.placard.stop();
  network.failures = 0;
  expect(await openStore(logName(service.origin, 'app')).get(LOG_STATE_KEY)).toMatchObject({
    consent: 'enabled',
  });
  const third = visit();
  await third.heard('synced');
  expect(third.notices.filter(({ type }) => type === 'consent')).toEqual([]);
  third.placard.stop();
});

test('a delayed choice does not overwrite a later one from another tab, and the page applies the later one', async () => {
  const store = createMemoryStore();
  const stored = { ...newLogState('disabled'), decidedAt: 20, delivered: 3 };
  await store.setMany([[LOG_STATE_KEY, stored]]);
  const consent = decided('enable', 10);
  await carryOut(page(store), 'enable', consent);
  expect(await store.get(LOG_STATE_KEY)).toEqual(stored);
  expect(consent.record()).toEqual({ consent: 'disabled', decidedAt: 20 });
});

test('a delayed purge keeps events captured after a later opt-in in another tab', async () => {
  const store = createMemoryStore();
  const event = { v: 1, type: 'click', bannerId: 'b', placementId: 'p', userId: 'u', time: 5 };
  const state = { ...newLogState('enabled'), decidedAt: 20 };
  await store.setMany([
    [LOG_STATE_KEY, state],
    [['event', 1, 9, 'tab', 1], event],
    [['event', 1, 21, 'tab', 2], event],
  ]);
  const consent = decided('purge', 10, 'enabled');
  await carryOut(page(store), 'purge', consent);
  expect(await store.entries()).toEqual([
    [LOG_STATE_KEY, state],
    [['event', 1, 21, 'tab', 2], event],
  ]);
  expect(consent.record()).toEqual({ consent: 'enabled', decidedAt: 20 });
});

test('an opt-out in another tab overrides an earlier opt-in, even if the chunk loads after both', async () => {
  const service = createFakeService({ banners: { home_hero: hero } });
  const openStore = aProfile();
  const openChannel = someChannels();
  const other = open({ service, openStore, platform: { openChannel } });
  other.placard.mount('home_hero', aSlot(), draw);
  await other.heard('synced');

  network.failures = 3;
  const late = open({ service, openStore, consent: 'disabled', platform: { openChannel } });
  await late.placard.enable();
  await vi.advanceTimersByTimeAsync(3_000);
  await other.placard.disable('purge');
  await vi.advanceTimersByTimeAsync(40_000);
  expect(network.failures).toBe(0);
  expect(other.of('consent').at(-1)).toMatchObject({ state: 'disabled' });
  expect(late.of('consent').at(-1)).toMatchObject({ state: 'disabled' });
  const state = await openStore(logName(service.origin, 'app')).get(LOG_STATE_KEY);
  expect(state).toMatchObject({ consent: 'disabled' });
});

test.each([
  [
    'Chromium',
    'Failed to fetch dynamically imported module: https://shop.example/a-1.js',
    'https://shop.example/a-1.js',
  ],
  [
    'Firefox',
    'error loading dynamically imported module: http://shop.example/a-1.js',
    'http://shop.example/a-1.js',
  ],
  ['WebKit', 'Importing a module script failed.', undefined],
  ['webpack', 'Loading chunk 147 failed.\n(error: https://shop.example/147.js)', undefined],
])('reads the module to import again from the message of %s, if it contains one', (_, message, address) => {
  expect(findUrl(message)).toBe(address);
});

test('rejects with the first failure if its message names no module, without a second request', async () => {
  const cause = new TypeError('Importing a module script failed.');
  await expect(retryImport(() => Promise.reject(cause))).rejects.toBe(cause);
});

test.each([
  ['a part of sessions', 'u-1', 'liveUpdates'],
  ['visitors', null, 'visitors'],
])('reports once that the chunk of an addition cannot be loaded: %s', async (_, userId, name) => {
  const load = vi.fn(() => Promise.reject(new TypeError('Importing a module script failed.')));
  const { placard, of } = open({ userId, use: [{ [name]: name === 'visitors' ? load : { load } }] });
  placard.mount('home_hero', aSlot(), draw);
  await vi.waitFor(() => expect(load).toHaveBeenCalledOnce(), PATIENCE);
  // Resolves after the session has begun or failed to begin.
  await placard.refresh();
  const reports = of('failed').filter(({ message }) => message.includes('module script'));
  expect(reports).toMatchObject([{ kind: 'chunk-load' }]);
});
