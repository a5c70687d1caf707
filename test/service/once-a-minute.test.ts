import { expect, test } from 'vitest';
import { createLogThrottle } from '../../src/service/log.ts';

const MINUTE_MS = 60_000;

test('a cause is due once a minute, independently of others', () => {
  const isDue = createLogThrottle();
  expect([isDue('a', 0), isDue('a', MINUTE_MS - 1), isDue('b', MINUTE_MS - 1)]).toEqual([true, false, true]);
  expect(isDue('a', MINUTE_MS)).toBe(true);
});

test('a clock that moves back suppresses no cause for longer', () => {
  const isDue = createLogThrottle();
  isDue('a', 10 * MINUTE_MS);
  expect(isDue('a', 0)).toBe(true);
});

test('new causes are limited to a thousand a minute, and known ones continue afterwards', () => {
  const isDue = createLogThrottle();
  const due = (nowMs: number, from: string) =>
    Array.from({ length: 5_000 }, (_, at) => isDue(`${from}${at}`, nowMs)).filter(Boolean).length;
  expect(due(0, 'made up ')).toBe(1_000);
  expect(due(1, 'others ')).toBe(0);
  expect(due(MINUTE_MS, 'more ')).toBe(1_000);
});
