// @vitest-environment node
import { expect, test } from 'vitest';
import { createWorld, deafLink } from './world.ts';

/** A profile whose user opted out on an earlier visit, where what was queued may still be sent. */
const afterAnOptOut = async () => {
  const world = createWorld();
  const first = world.openTab();
  await first.delivery.disable('send');
  first.kill();
  await world.clock.advance(1_000);
  return world;
};

/** The events in the log, and those that were sent. */
const traces = (world: ReturnType<typeof createWorld>) => [
  ...world.records().filter(([key]) => String(key).startsWith('event')),
  ...world.sent(),
];

test('a click before the first look at the log, after an opt-out (send) on an earlier visit, is not kept and not sent', async () => {
  const world = await afterAnOptOut();
  const second = world.openTab({ consent: 'enabled' });
  const clicked = second.capture();
  await world.clock.advance(120_000);
  expect(await clicked).toBeNull();
  expect(second.noticesOf('tracked')).toEqual([]);
  expect(traces(world)).toEqual([]);
});

test('a click in a tab that missed an opt-out (send) in another tab is not kept and not sent', async () => {
  const world = createWorld();
  const away = world.openTab({ openChannel: deafLink });
  await world.settle();
  const tab = world.openTab({ options: { maxWaitMs: 60_000 } });
  await tab.delivery.disable('send');
  await world.clock.advance(1_000);
  const clicked = away.capture();
  await world.clock.advance(120_000);
  expect(await clicked).toBeNull();
  expect(away.noticesOf('tracked')).toEqual([]);
  expect(traces(world)).toEqual([]);
});

test('clicks before an opt-out (send) in the same page are sent, also where the clock was set back before it', async () => {
  const world = createWorld();
  const tab = world.openTab({ options: { maxWaitMs: 60_000 } });
  await world.settle();
  world.clock.jump(-60_000);
  const clicked = [tab.capture('twice'), tab.capture('twice')];
  await tab.delivery.disable('send');
  expect(await Promise.all(clicked)).toMatchObject([{ bannerId: 'twice' }, { bannerId: 'twice' }]);
  await world.clock.advance(120_000);
  expect(world.sent().flat()).toHaveLength(2);
});
