import { expect, test } from 'vitest';
import { clockSkewMs } from '../../../src/client/banners/request-banners.ts';

const AT = Date.UTC(2026, 2, 1, 12, 0, 0);
const answeredAt = (ms: number) => new Headers({ date: new Date(ms).toUTCString() });

test('case 55: measures the clock skew of a device that is two days off', () => {
  const twoDays = 2 * 24 * 3_600_000;
  expect(clockSkewMs(answeredAt(AT + twoDays), AT - 100, AT + 100)).toBe(twoDays);
  expect(clockSkewMs(answeredAt(AT - twoDays), AT - 100, AT + 100)).toBe(-twoDays);
});

test('ignores a difference that network latency explains', () => {
  expect(clockSkewMs(answeredAt(AT + 3_000), AT - 5_000, AT)).toBe(0);
});

test('does not report a skew without a valid date', () => {
  expect(clockSkewMs(new Headers(), AT, AT)).toBeUndefined();
  expect(clockSkewMs(new Headers({ date: 'yesterday' }), AT, AT)).toBeUndefined();
});
