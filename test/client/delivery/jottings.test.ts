// @vitest-environment node
import { expect, test } from 'vitest';
import { createCapture } from '../../../src/client/delivery/capture.ts';
import { createJottings, isJotting } from '../../../src/client/delivery/jottings.ts';
import type { Ledger } from '../../../src/client/delivery/ledger.ts';
import { assertConserved, createFaultyStore } from '../../../src/testing/index.ts';
import { createWorld, type World } from './world.ts';

const MINUTE_MS = 60_000;

const jottings = (world: World) => world.records().filter(([, record]) => isJotting(record)).length;

/** A page that goes into the back/forward cache, or nowhere, before it could store what was clicked. */
const leaveWithAClick = async (setup = {}) => {
  const world = createWorld();
  const tab = world.openTab(setup);
  await tab.capture('before');
  await tab.delivery.flush();
  const clicked = tab.capture('out');
  tab.tell('hidden');
  tab.tell('leave');
  await world.settle();
  expect(jottings(world)).toBe(1);
  return { world, tab, clicked };
};

test('case 28: a click of a page that is gone before its transaction could read is stored by the next page, once', async () => {
  const { world, tab } = await leaveWithAClick();
  tab.kill();
  const next = world.openTab();
  await world.clock.advance(MINUTE_MS);
  const diagnostics = await next.delivery.diagnostics();
  expect(diagnostics).toMatchObject({ captured: 2, delivered: 2 });
  assertConserved(diagnostics);
  expect(world.service.events.filter(({ bannerId }) => bannerId === 'out')).toHaveLength(1);
  expect(jottings(world)).toBe(0);
});

test('case 28: also where the click is the first thing that a profile ever stores', async () => {
  const world = createWorld();
  const tab = world.openTab();
  await world.settle();
  void tab.capture('out');
  tab.tell('leave');
  await world.settle();
  tab.kill();
  const next = world.openTab();
  await world.clock.advance(MINUTE_MS);
  expect(await next.delivery.diagnostics()).toMatchObject({ captured: 1, delivered: 1 });
});

test('a page that comes back at once stores its click itself', async () => {
  const { world, tab, clicked } = await leaveWithAClick();
  const other = world.openTab();
  await world.clock.advance(1_000);
  expect(await other.delivery.diagnostics()).toMatchObject({ captured: 1 });
  tab.tell('restored');
  tab.tell('visible');
  expect(await clicked).toMatchObject({ bannerId: 'out' });
  await world.clock.advance(MINUTE_MS);
  expect(await other.delivery.diagnostics()).toMatchObject({ captured: 2, delivered: 2 });
  expect(jottings(world)).toBe(0);
});

test('a page that comes back late finds its click stored, and does not store it again', async () => {
  const { world, tab, clicked } = await leaveWithAClick();
  const other = world.openTab();
  await world.clock.advance(MINUTE_MS);
  for (let i = 0; i < 20; i += 1) await other.capture(`more${i}`);
  tab.tell('restored');
  tab.tell('visible');
  expect(await clicked).toBeNull();
  await world.clock.advance(MINUTE_MS);
  const diagnostics = await tab.delivery.diagnostics();
  expect(diagnostics).toMatchObject({ captured: 22, delivered: 22 });
  expect(world.service.events.filter(({ bannerId }) => bannerId === 'out')).toHaveLength(1);
});

test('nothing is stored of a click after an opt-out or a wipe', async () => {
  for (const forget of ['purge', 'keep', 'wipe'] as const) {
    const { world, tab } = await leaveWithAClick();
    tab.kill();
    const other = world.openTab();
    await (forget === 'wipe' ? other.delivery.wipe() : other.delivery.disable(forget));
    const next = world.openTab();
    await next.delivery.enable();
    await world.clock.advance(MINUTE_MS);
    expect(world.service.events.map(({ bannerId }) => bannerId)).not.toContain(
      forget === 'keep' ? '' : 'out',
    );
    expect(jottings(world)).toBe(0);
  }
});

test('a wiped store stays empty, whatever a page had jotted down before it heard of it', async () => {
  const { world, tab } = await leaveWithAClick();
  const left = world.records().find(([, record]) => isJotting(record))!;
  tab.kill();
  await world.openTab().delivery.wipe();
  await world.disk.openStore(world.name).setMany([left]);
  world.openTab();
  await world.clock.advance(MINUTE_MS);
  expect(world.records()).toEqual([]);
});

test('clicks that go on in memory count once, though the disk refuses at first to give up the jotting', async () => {
  const world = createWorld();
  const store = createFaultyStore(world.disk.openStore(world.name));
  const other = world.openTab();
  await other.capture('warm');
  await other.delivery.flush();
  const tab = world.openTab({ openStore: () => store });
  await world.settle();
  store.fail({ type: 'reject', error: 'UnknownError' }, { verbs: ['update'] });
  store.fail({ type: 'reject', error: 'UnknownError' }, { verbs: ['deleteMany'] });
  await Promise.all([tab.capture('twice'), tab.capture('twice'), tab.capture('once')]);
  await world.clock.advance(1_000);
  await other.capture('later');
  await world.clock.advance(11 * MINUTE_MS);
  const ids = world.service.events.map(({ bannerId }) => bannerId).sort();
  expect(ids).toEqual(['later', 'once', 'twice', 'twice', 'warm']);
  expect(jottings(world)).toBe(0);
});

test('a click that goes on in memory counts once, however long it stays there with its jotting on the disk', async () => {
  const world = createWorld();
  const store = createFaultyStore(world.disk.openStore(world.name));
  const tab = world.openTab({ openStore: () => store });
  await tab.capture('warm');
  await tab.delivery.flush();
  const offline = world.service.fail({ type: 'status', status: 503 }, { times: Number.POSITIVE_INFINITY });
  store.fail(
    { type: 'reject', error: 'UnknownError' },
    { verbs: ['update', 'deleteMany', 'get', 'entries'], times: Number.POSITIVE_INFINITY },
  );
  await tab.capture('clicked');
  await world.settle();
  expect(jottings(world)).toBe(1);
  for (let i = 0; i < 20; i += 1) await tab.capture(`later${i}`, 'impression');
  store.recover();
  offline();
  tab.tell('visible');
  await world.settle();
  expect(jottings(world)).toBe(0);
  await world.clock.advance(10 * MINUTE_MS);
  const diagnostics = await tab.delivery.diagnostics();
  expect(diagnostics).toMatchObject({ memoryMode: false, captured: 22, delivered: 22 });
  assertConserved(diagnostics);
  expect(world.service.events.filter(({ bannerId }) => bannerId === 'clicked')).toHaveLength(1);
});

test('where the page dies before its memory is moved, the jotting is still there for the next one', async () => {
  const world = createWorld();
  const store = createFaultyStore(world.disk.openStore(world.name));
  const tab = world.openTab({ openStore: () => store });
  await tab.capture('warm');
  await tab.delivery.flush();
  world.service.fail({ type: 'status', status: 503 }, { times: 2 });
  store.fail(
    { type: 'reject', error: 'UnknownError' },
    { verbs: ['update', 'deleteMany'], times: Number.POSITIVE_INFINITY },
  );
  await tab.capture('clicked');
  await world.settle();
  // The disk answers, and takes everything but the move.
  store.recover();
  store.fail(
    { type: 'reject', error: 'UnknownError' },
    { verbs: ['update'], times: Number.POSITIVE_INFINITY },
  );
  tab.tell('visible');
  await world.settle();
  tab.kill();
  world.openTab();
  await world.clock.advance(10 * MINUTE_MS);
  expect(world.service.events.map(({ bannerId }) => bannerId)).toEqual(['warm', 'clicked']);
});

test('what could not be stored, as its caller hears, leaves no jotting for the next page', async () => {
  const world = createWorld();
  const disk = world.disk.openStore(world.name);
  const broken = new Error('the transaction fails');
  const ledger = { known: () => undefined, step: () => Promise.reject(broken) } as unknown as Ledger;
  const failures: unknown[] = [];
  const capture = createCapture({
    ledger,
    jottings: createJottings({ disk, isMemory: () => false, ledger, now: world.clock.now }),
    tab: 'tab',
    appId: 'app-1',
    appVersion: '1.0.0',
    now: world.clock.now,
    eventNow: world.clock.now,
    isOpen: () => true,
    isMemory: () => false,
    mayStore: () => true,
    onStored: () => undefined,
    makingRoom: (work) => work(),
    onRefused: () => undefined,
    onFailed: (cause) => failures.push(cause),
  });
  expect(await capture({ type: 'click', bannerId: 'b1', placementId: 'p1', userId: 'u1' })).toBeNull();
  await world.settle();
  expect(failures).toEqual([broken]);
  expect(jottings(world)).toBe(0);
});

test('a click before a wipe in the same task leaves nothing, wherever the page dies', async () => {
  for (let turns = 0; turns < 20; turns += 1) {
    const world = createWorld();
    const tab = world.openTab();
    await world.settle();
    void tab.capture('out');
    void tab.delivery.wipe();
    for (let i = 0; i < turns; i += 1) await Promise.resolve();
    tab.kill();
    world.openTab();
    await world.clock.advance(MINUTE_MS);
    expect(world.sent(), `after ${turns} turns`).toEqual([]);
  }
});

test('impressions and bursts are not jotted down', async () => {
  const world = createWorld();
  const tab = world.openTab();
  await world.settle();
  void tab.capture('b', 'impression');
  tab.tell('leave');
  await world.settle();
  expect(jottings(world)).toBe(0);
  tab.tell('restored');
  void tab.captureMany(100);
  tab.tell('leave');
  await world.settle();
  expect(jottings(world)).toBe(0);
});
