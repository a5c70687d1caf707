import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createWaiting } from '../../../src/service/store/waiting.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const aLine = () => {
  const refused: string[] = [];
  const line = createWaiting<string>({ refuse: (item) => refused.push(item), timeoutMs: 10_000 });
  return { line, refused };
};

test('who waits is taken in the order in which they came, with how long the first has waited', () => {
  const { line, refused } = aLine();
  line.add('a');
  vi.advanceTimersByTime(40);
  line.add('b');
  line.add('c');
  expect(line.take(2)).toEqual({ items: ['a', 'b'], waitedMs: 40 });
  expect(line.take(2)).toEqual({ items: ['c'], waitedMs: 0 });
  expect(line.take(2)).toEqual({ items: [], waitedMs: 0 });
  expect(refused).toEqual([]);
});

test('who has waited too long is refused then, and nobody who came later', () => {
  const { line, refused } = aLine();
  line.add('a');
  vi.advanceTimersByTime(6_000);
  line.add('b');
  vi.advanceTimersByTime(3_999);
  expect(refused).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(refused).toEqual(['a']);
  vi.advanceTimersByTime(6_000);
  expect(refused).toEqual(['a', 'b']);
  line.add('c');
  vi.advanceTimersByTime(9_000);
  expect(line.take(1).items).toEqual(['c']);
  vi.advanceTimersByTime(60_000);
  expect(refused).toEqual(['a', 'b']);
});

test('for five seconds after a refusal it says that it refuses', () => {
  const { line } = aLine();
  line.add('a');
  expect(line.isRefusing()).toBe(false);
  vi.advanceTimersByTime(10_000);
  expect(line.isRefusing()).toBe(true);
  vi.advanceTimersByTime(5_000);
  expect(line.isRefusing()).toBe(false);
});
