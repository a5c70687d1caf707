// @vitest-environment node
import { expect, test } from 'vitest';
import { createWorld, deafLink } from './world.ts';

/** A profile whose user opted out on an earlier visit, and whose queued events may still be sent. */
const afterAnOptOut = async () => {
  const world = createWorld();
  const first = world.openTab();
  await first.delivery.disable('send');
  first.kill();
  await world.clock.advance(1_000);
  return world;
};

type World = ReturnType<typeof createWorld>;

/** Clicks, and expects that the event is in no notice, not in the log, and not sent. */
const expectForgottenClick = async (world: World, tab: ReturnType<World['openTab']>) => {
  const clicked = tab.capture();
  await world.clock.advance(120_000);
  expect(await clicked).toBeNull();
  expect(tab.getNotices('tracked')).toEqual([]);
  expect(world.records().filter(([key]) => String(key).startsWith('event'))).toEqual([]);
  expect(world.sent()).toEqual([]);
};

test('drops a click captured before the first read of the log after an earlier opt-out (send)', async () => {
  const world = await afterAnOptOut();
  await expectForgottenClick(world, world.openTab({ consent: 'enabled' }));
});

test('drops a click in a tab that missed an opt-out (send) from another tab', async () => {
  const world = createWorld();
  const away = world.openTab({ openChannel: deafLink });
  await world.settle();
  const tab = world.openTab({ options: { maxDelayMs: 60_000 } });
  await tab.delivery.disable('send');
  await world.clock.advance(1_000);
  await expectForgottenClick(world, away);
});

test('sends clicks captured before an opt-out (send) on the same page, even if the clock was set back', async () => {
  const world = createWorld();
  const tab = world.openTab({ options: { maxDelayMs: 60_000 } });
  await world.settle();
  world.clock.jump(-60_000);
  const clicked = [tab.capture('twice'), tab.capture('twice')];
  await tab.delivery.disable('send');
  expect(await Promise.all(clicked)).toMatchObject([{ bannerId: 'twice' }, { bannerId: 'twice' }]);
  await world.clock.advance(120_000);
  expect(world.sent().flat()).toHaveLength(2);
});
