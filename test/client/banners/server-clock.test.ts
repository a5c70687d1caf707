import { expect, test } from 'vitest';
import { clockSkewMs } from '../../../src/client/banners/request-banners.ts';

const AT = Date.UTC(2026, 2, 1, 12, 0, 0);
const answeredAt = (ms: number) => new Headers({ date: new Date(ms).toUTCString() });

test('case 55: a device that is two days off learns by how much', () => {
  const twoDays = 2 * 24 * 3_600_000;
  expect(clockSkewMs(answeredAt(AT + twoDays), AT - 100, AT + 100)).toBe(twoDays);
  expect(clockSkewMs(answeredAt(AT - twoDays), AT - 100, AT + 100)).toBe(-twoDays);
});

test('a difference that the network explains is none', () => {
  expect(clockSkewMs(answeredAt(AT + 3_000), AT - 5_000, AT)).toBe(0);
});

test('without a readable date nothing is known', () => {
  expect(clockSkewMs(new Headers(), AT, AT)).toBeUndefined();
  expect(clockSkewMs(new Headers({ date: 'yesterday' }), AT, AT)).toBeUndefined();
});
