// @vitest-environment node
import { expect, test } from 'vitest';
import { createWorld } from '../world.ts';

const times = ({ service, clock }: ReturnType<typeof createWorld>, start = clock.now()) =>
  service.requests.map(({ at }) => at - start);

test('sends after the normal wait if the preflight is cached, and after a pause otherwise', async () => {
  const world = createWorld();
  const tab = world.openTab();
  const start = world.clock.now();
  for (let i = 0; i < 10; i += 1) {
    await tab.capture(`b${i}`);
    await world.clock.advance(200);
  }
  expect(world.service.requests).toEqual([]);
  await world.clock.advance(50);
  expect(times(world, start)).toEqual([2_050]);
  await world.clock.advance(10_000);
  await tab.capture('warm');
  await world.clock.advance(4_999);
  expect(world.service.requests).toHaveLength(1);
  await world.clock.advance(1);
  expect(world.service.requests).toHaveLength(2);
});

test('does not send early if the response that cached the preflight sets a pause', async () => {
  const world = createWorld();
  const tab = world.openTab();
  await tab.capture('first');
  await tab.delivery.flush();
  await world.clock.advance(250);
  await tab.capture('second');
  await world.clock.advance(4_000);
  expect(world.sent()).toEqual([['first']]);
});

test('sends events captured in a requested pause when it ends, without an earlier key request', async () => {
  const world = createWorld();
  let asked = 0;
  const tab = world.openTab({
    apiKey() {
      asked += 1;
      return 'wrong-key';
    },
  });
  world.service.fail({ type: 'status', status: 401 }, { times: 2 });
  await tab.capture('first');
  await tab.delivery.flush();
  await world.clock.advance(10_000);
  const before = asked;
  for (let i = 0; i < 60; i += 1) await tab.capture(`b${i}`);
  await world.clock.advance(60_000);
  expect(asked).toBe(before);
  expect(world.service.requests).toHaveLength(1);
});

test('leaves no timers and no listeners after stop', async () => {
  const world = createWorld();
  const tab = world.openTab();
  await tab.capture();
  expect(world.clock.pending()).toBeGreaterThan(0);
  tab.delivery.stop();
  await world.settle();
  expect(world.clock.pending()).toBe(0);
  expect(tab.listeners()).toBe(0);
});

test('does not delay events because of an older timer after the clock was set ahead', async () => {
  const world = createWorld();
  const tab = world.openTab();
  world.service.fail({ type: 'rate-limit', afterSeconds: 3_000, form: 'banners' }, { times: 1 });
  await tab.capture('first');
  await tab.delivery.flush();
  expect(world.service.requests).toHaveLength(1);
  world.clock.jump(2 * 60 * 60_000);
  await tab.capture('second');
  await world.clock.advance(10_000);
  expect(world.sent().slice(1).flat().sort()).toEqual(['first', 'second']);
});
