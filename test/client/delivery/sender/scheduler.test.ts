import { expect, test } from 'vitest';
import type { DeliveryContext } from '../../../../src/client/delivery/context.ts';
import { createScheduler } from '../../../../src/client/delivery/sender/scheduler.ts';
import { deliveryOptions } from '../../../../src/client/options/choices.ts';
import { createVirtualClock } from '../../../../src/testing/index.ts';
import { createFakeLifecycle } from '../world.ts';

const aScheduler = () => {
  const clock = createVirtualClock();
  const { lifecycle, tell, listeners } = createFakeLifecycle();
  const start = clock.now();
  const due: { at: number; all: boolean }[] = [];
  const signs: number[] = [];
  const options = deliveryOptions(undefined, () => undefined);
  const scheduler = createScheduler(
    { clock, lifecycle, options } as unknown as DeliveryContext,
    (all) => due.push({ at: clock.now() - start, all }),
    () => signs.push(clock.now() - start),
  );
  return { clock, start, due, signs, scheduler, tell, listeners };
};

test('with a warm preflight events wait their time, with a cold one for a pause', async () => {
  const { clock, due, scheduler } = aScheduler();
  for (let i = 0; i < 10; i += 1) {
    scheduler.onAppended();
    await clock.advance(200);
  }
  expect(due).toEqual([]);
  await clock.advance(50);
  expect(due).toEqual([{ at: 2_050, all: true }]);
  scheduler.answered();
  await clock.advance(10_000);
  due.length = 0;
  scheduler.onAppended();
  await clock.advance(4_999);
  expect(due).toEqual([]);
  await clock.advance(1);
  expect(due).toMatchObject([{ all: false }]);
});

test('of two times the earlier one counts, and one that never comes none', async () => {
  const { clock, start, due, scheduler } = aScheduler();
  for (const at of [3_000, 9_000, Number.POSITIVE_INFINITY, 1_000]) scheduler.wakeAt(start + at);
  await clock.advance(20_000);
  expect(due).toEqual([{ at: 1_000, all: false }]);
});

test('each sign that the network or the user is back is told and counted', () => {
  const { signs, scheduler, tell } = aScheduler();
  for (const moment of ['hidden', 'visible', 'online', 'resumed', 'leave', 'restored'] as const) tell(moment);
  expect(signs).toHaveLength(4);
  expect(scheduler.reconnects()).toBe(4);
});

test('after stop no timer and no listener is left, and none is set', () => {
  const { clock, start, scheduler, listeners } = aScheduler();
  scheduler.onAppended();
  scheduler.stop();
  scheduler.onAppended();
  scheduler.wakeAt(start);
  expect(clock.pending()).toBe(0);
  expect(listeners()).toBe(0);
});
