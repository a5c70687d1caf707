import { expect, test, vi } from 'vitest';
import { afterTimeout, withTimeout } from '../../../src/client/platform/pauses.ts';
import { createVirtualClock } from '../../../src/testing/index.ts';

test('fires once after the full timeout', async () => {
  const clock = createVirtualClock();
  const over = vi.fn();
  afterTimeout(clock.after, 2_000, over);
  await clock.advance(1_999);
  expect(over).not.toHaveBeenCalled();
  await clock.advance(10_000);
  expect(over).toHaveBeenCalledTimes(1);
  expect(clock.pending()).toBe(0);
});

test.each([0, 500, 1_500])('is canceled after %i ms and leaves no timer behind', async (ms) => {
  const clock = createVirtualClock();
  const over = vi.fn();
  const cancel = afterTimeout(clock.after, 2_000, over);
  await clock.advance(ms);
  cancel();
  expect(clock.pending()).toBe(0);
  await clock.advance(10_000);
  expect(over).not.toHaveBeenCalled();
});

test('accepts a response received while the page was suspended as in time', async () => {
  const clock = createVirtualClock();
  const { promise, resolve } = Promise.withResolvers<number>();
  // When the page resumes, the timer is due first, and the response right after it.
  const after: typeof clock.after = (ms, callback) =>
    clock.after(ms, () => {
      callback();
      resolve(7);
    });
  const answer = withTimeout(promise, after, 2_000, 'the host');
  await clock.advance(10_000);
  expect(await answer).toBe(7);
});
