// @vitest-environment node
import { expect, test } from 'vitest';
import type { BannerEvent } from '../../../src/client/banner-event.ts';
import { assertConserved, assertDeliveredExactlyOnce } from '../../../src/testing/index.ts';
import { createWorld, type World } from './world.ts';

const HOUR_MS = 60 * 60_000;
/** Nothing is due before the page hides. */
const QUIET = { options: { maxWaitMs: HOUR_MS, maxBatch: 2_000 } };
const QUOTA = 64 * 1024;

/** More than one keepalive budget, stored by a page that is hidden now. */
const hideWithTooMuch = async (world: World, setup = {}, quota = QUOTA) => {
  const tab = world.openTab({ ...QUIET, ...setup }, { quota });
  await world.settle();
  const events = [...(await tab.captureMany(900, 'impression')), ...(await tab.captureMany(60, 'click'))];
  world.service.requests.length = 0;
  tab.tell('hidden');
  await world.settle();
  return { tab, events };
};
const arrived = (world: World, events: (BannerEvent | null)[]) =>
  assertDeliveredExactlyOnce(world.service.events, events as BannerEvent[]);
const textsOf = (world: World) => world.service.requests.map(({ text }) => text);

test('case 27: what the keepalive budget cannot take the browser sends when the page is gone, and it counts once', async () => {
  const world = createWorld();
  const { tab, events } = await hideWithTooMuch(world);
  const before = textsOf(world).length;
  expect(world.service.events.length).toBeLessThan(960);
  expect(tab.deferred()).toBeGreaterThan(0);
  expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 960, inDoubt: 0 });
  tab.kill();
  await world.settle();
  arrived(world, events);
  const left = textsOf(world).slice(before);

  const next = world.openTab(QUIET);
  await world.clock.advance(1_000);
  expect(textsOf(world)).toHaveLength(before + left.length);
  // Nobody read the answers: once none can come any more, the same bytes go out again.
  await world.clock.advance(HOUR_MS);
  expect(
    textsOf(world)
      .slice(before + left.length)
      .sort(),
  ).toEqual(left.sort());
  expect(next.noticesOf('in-doubt').flatMap((notice) => notice.events).length).toBeGreaterThan(0);
  const diagnostics = await next.delivery.diagnostics();
  assertConserved(diagnostics);
  expect(diagnostics).toMatchObject({ captured: 960, delivered: 960, inDoubt: 0 });
  arrived(world, events);
});

test('a page that comes back takes back what the browser has not sent, and sends it itself', async () => {
  const world = createWorld();
  const { tab, events } = await hideWithTooMuch(world);
  tab.tell('visible');
  await tab.delivery.flush();
  expect(tab.deferred()).toBe(0);
  expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 960, delivered: 960 });
  tab.kill();
  await world.clock.advance(HOUR_MS);
  arrived(world, events);
  expect(new Set(textsOf(world)).size).toBe(textsOf(world).length);
  expect(tab.noticesOf('in-doubt')).toEqual([]);
});

test('a page on its way out leaves to the browser what it cannot take back any more', async () => {
  const world = createWorld();
  const { tab, events } = await hideWithTooMuch(world);
  const deferred = tab.deferred();
  // The signs of a page that is gone before its store answers: a flush begins, and nothing comes of it.
  void tab.delivery.flush();
  tab.kill();
  await world.settle();
  expect(deferred).toBeGreaterThan(0);
  arrived(world, events);
});

test('a hidden page that lives on sends it itself as soon as it is due', async () => {
  const world = createWorld();
  const { tab } = await hideWithTooMuch(world, { options: { ...QUIET.options, maxWaitMs: 8_000 } });
  expect(tab.deferred()).toBeGreaterThan(0);
  await world.clock.advance(10_000);
  expect(tab.deferred()).toBe(0);
  expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 960, delivered: 960 });
  expect(tab.noticesOf('in-doubt')).toEqual([]);
});

test('what left on the way into the back/forward cache is in doubt, and goes out again unchanged', async () => {
  const world = createWorld();
  const { tab, events } = await hideWithTooMuch(world);
  tab.tell('leave');
  await world.clock.advance(HOUR_MS);
  const sent = new Set(textsOf(world));
  arrived(world, events);
  tab.tell('restored');
  tab.tell('visible');
  await tab.delivery.flush();
  expect(textsOf(world).every((text) => sent.has(text))).toBe(true);
  expect(tab.noticesOf('in-doubt').length).toBeGreaterThan(0);
  expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 960, delivered: 960 });
  arrived(world, events);
});

test('a keepalive request that is refused at once is left to the browser', async () => {
  const world = createWorld();
  const tab = world.openTab(QUIET, { quota: QUOTA });
  const events = await tab.captureMany(40);
  world.service.fail({ type: 'drop', when: 'before' });
  tab.tell('hidden');
  await world.settle();
  expect(tab.deferred()).toBe(1);
  expect(await tab.delivery.diagnostics()).toMatchObject({ pending: 40, inDoubt: 0, waitingUntil: null });
  tab.kill();
  await world.settle();
  arrived(world, events);
});

test('a keepalive request that fails late, as on a busy machine, is left to the browser as well', async () => {
  const world = createWorld();
  const failLate = () =>
    new Promise<Response>((_, reject) => {
      world.clock.setTimeout(() => reject(new TypeError('Failed to fetch')), 3_000);
    });
  const tab = world.openTab({ ...QUIET, fetch: failLate }, { quota: QUOTA });
  const events = await tab.captureMany(40);
  tab.tell('hidden');
  await world.settle();
  expect(tab.deferred()).toBe(0);
  await world.clock.advance(3_000);
  expect(tab.deferred()).toBe(1);
  expect(await tab.delivery.diagnostics()).toMatchObject({ pending: 40, inDoubt: 0, waitingUntil: null });
  tab.kill();
  await world.settle();
  arrived(world, events);
});

test('an event that may be sent only once is never left to the browser', async () => {
  const world = createWorld();
  const once = { impression: 'at-most-once', click: 'at-least-once', dismiss: 'at-least-once' } as const;
  const options = { ...QUIET.options, inDoubt: once };
  const { tab } = await hideWithTooMuch(world, { options });
  const before = world.service.events.length;
  expect(before).toBeLessThan(960);
  expect(tab.deferred()).toBe(0);
  tab.kill();
  await world.settle();
  expect(world.service.events).toHaveLength(before);
});

test('a frame that is given a small quota leaves to the browser what fits, and the rest stays stored', async () => {
  const world = createWorld();
  const tab = world.openTab(QUIET, { quota: 8 * 1024 });
  await world.settle();
  const events = await tab.captureMany(900, 'impression');
  events.push(...(await tab.captureMany(60, 'impression', 'u2')));
  tab.tell('hidden');
  await world.settle();
  expect(tab.deferred()).toBe(1);
  tab.kill();
  await world.settle();
  const before = world.service.events.length;
  expect(before).toBeLessThan(960);
  const next = world.openTab();
  await world.clock.advance(HOUR_MS);
  expect(await next.delivery.diagnostics()).toMatchObject({ captured: 960, delivered: 960 });
  arrived(world, events);
});

test('where the engine will not have it everything stays stored', async () => {
  const world = createWorld();
  const fetchLater = () => {
    throw new DOMException('not here', 'NotAllowedError');
  };
  const { tab } = await hideWithTooMuch(world, { fetchLater });
  const before = world.service.events.length;
  expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 960, pending: 960 - before });
  expect(tab.noticesOf('failed')).toEqual([]);
});

test('what another tab has sent meanwhile, or the user took back, the browser does not send', async () => {
  const world = createWorld();
  const { tab, events } = await hideWithTooMuch(world);
  const other = world.openTab(QUIET);
  await world.clock.advance(HOUR_MS);
  await other.delivery.flush();
  expect(tab.deferred()).toBe(0);
  arrived(world, events);

  const { tab: third } = await hideWithTooMuch(createWorld());
  await third.delivery.disable('purge');
  expect(third.deferred()).toBe(0);
  const diagnostics = await third.delivery.diagnostics();
  assertConserved(diagnostics);
  expect(diagnostics.pending).toBe(0);
});
