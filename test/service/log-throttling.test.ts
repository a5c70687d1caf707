import { expect, test } from 'vitest';
import { createLogThrottle } from '../../src/service/log.ts';

const MINUTE_MS = 60_000;

test('logs each cause once a minute, independently of others', () => {
  const shouldLog = createLogThrottle();
  expect([shouldLog('a', 0), shouldLog('a', MINUTE_MS - 1), shouldLog('b', MINUTE_MS - 1)]).toEqual([
    true,
    false,
    true,
  ]);
  expect(shouldLog('a', MINUTE_MS)).toBe(true);
});

test('does not suppress a cause for longer if the clock moves back', () => {
  const shouldLog = createLogThrottle();
  shouldLog('a', 10 * MINUTE_MS);
  expect(shouldLog('a', 0)).toBe(true);
});

test('limits new causes to 1,000 a minute, and accepts new ones in the next minute', () => {
  const shouldLog = createLogThrottle();
  const due = (nowMs: number, from: string) =>
    Array.from({ length: 5_000 }, (_, at) => shouldLog(`${from}${at}`, nowMs)).filter(Boolean).length;
  expect(due(0, 'made up ')).toBe(1_000);
  expect(due(1, 'others ')).toBe(0);
  expect(due(MINUTE_MS, 'more ')).toBe(1_000);
});
