import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withTimeout } from '../../src/service/with-timeout.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('returns a timely value, and clears its timer', async () => {
  expect(await withTimeout(Promise.resolve(7), 2_000)).toBe(7);
  expect(vi.getTimerCount()).toBe(0);
});

test('returns `undefined` if the promise rejects or times out', async () => {
  expect(await withTimeout(Promise.reject(new Error('no')), 2_000)).toBeUndefined();
  let isOver = false;
  const hanging = withTimeout(new Promise(() => undefined), 2_000).finally(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(1_999);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await hanging).toBeUndefined();
});

test('accepts a response that arrived while the process was blocked', async () => {
  const { promise, resolve } = Promise.withResolvers<number>();
  const answer = withTimeout(promise, 2_000);
  // When the process resumes, the timer fires first, immediately followed by the response.
  vi.advanceTimersToNextTimer();
  resolve(7);
  expect(await answer).toBe(7);
  expect(vi.getTimerCount()).toBe(0);
});
