import { expect, test } from 'vitest';
import { refill } from '../../../src/client/banners/session.ts';

const RULE = { refreshCapacity: 5, refreshIntervalMs: 180_000 };

test('contract 7.6: adds one token per 180 s', () => {
  expect(refill({ tokens: 0, tokensAtMs: 0 }, RULE, 179_999).tokens).toBe(0);
  expect(refill({ tokens: 0, tokensAtMs: 0 }, RULE, 180_000).tokens).toBe(1);
  expect(refill({ tokens: 0, tokensAtMs: 0 }, RULE, 540_000).tokens).toBe(3);
});

test('contract 7.6: the bucket never exceeds its capacity', () => {
  expect(refill({ tokens: 4, tokensAtMs: 0 }, RULE, 10_000_000)).toEqual({
    tokens: 5,
    tokensAtMs: 10_000_000,
  });
});

test('does not lose a partial interval when the budget is read', () => {
  const once = refill({ tokens: 0, tokensAtMs: 0 }, RULE, 200_000);
  expect(refill(once, RULE, 359_999).tokens).toBe(1);
  expect(refill(once, RULE, 360_000).tokens).toBe(2);
});

test('continues to refill, without extra tokens, after the clock was set back', () => {
  const after = refill({ tokens: 1, tokensAtMs: 1_000_000 }, RULE, 0);
  expect(after.tokens).toBe(1);
  expect(refill(after, RULE, 180_000).tokens).toBe(2);
});
