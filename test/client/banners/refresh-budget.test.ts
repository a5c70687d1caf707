import { expect, test } from 'vitest';
import { refill } from '../../../src/client/banners/refresh-budget.ts';

const RULE = { refreshCapacity: 5, refreshIntervalMs: 180_000 };

test('contract 7.6: adds one token per 180 s', () => {
  expect(refill({ refreshesLeft: 0, refreshesLeftAtMs: 0 }, RULE, 179_999).refreshesLeft).toBe(0);
  expect(refill({ refreshesLeft: 0, refreshesLeftAtMs: 0 }, RULE, 180_000).refreshesLeft).toBe(1);
  expect(refill({ refreshesLeft: 0, refreshesLeftAtMs: 0 }, RULE, 540_000).refreshesLeft).toBe(3);
});

test('contract 7.6: the bucket never exceeds its capacity', () => {
  expect(refill({ refreshesLeft: 4, refreshesLeftAtMs: 0 }, RULE, 10_000_000)).toEqual({
    refreshesLeft: 5,
    refreshesLeftAtMs: 10_000_000,
  });
});

test('does not lose a partial interval when the budget is read', () => {
  const once = refill({ refreshesLeft: 0, refreshesLeftAtMs: 0 }, RULE, 200_000);
  expect(refill(once, RULE, 359_999).refreshesLeft).toBe(1);
  expect(refill(once, RULE, 360_000).refreshesLeft).toBe(2);
});

test('continues to refill, without extra refreshesLeft, after the clock was set back', () => {
  const after = refill({ refreshesLeft: 1, refreshesLeftAtMs: 1_000_000 }, RULE, 0);
  expect(after.refreshesLeft).toBe(1);
  expect(refill(after, RULE, 180_000).refreshesLeft).toBe(2);
});
