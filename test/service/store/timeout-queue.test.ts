import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createTimeoutQueue } from '../../../src/service/store/timeout-queue.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const aLine = () => {
  const expired: string[] = [];
  const line = createTimeoutQueue<string>({ expire: (item) => expired.push(item) });
  return { line, expired };
};

test('returns entries in order, with the age of the oldest', () => {
  const { line, expired } = aLine();
  line.add('a');
  vi.advanceTimersByTime(40);
  line.add('b');
  line.add('c');
  expect(line.take(2)).toEqual({ items: ['a', 'b'], waitedMs: 40 });
  expect(line.take(2)).toEqual({ items: ['c'], waitedMs: 0 });
  expect(line.take(2)).toEqual({ items: [], waitedMs: 0 });
  expect(expired).toEqual([]);
});

test('expires entries that waited too long, and keeps later ones', () => {
  const { line, expired } = aLine();
  line.add('a');
  vi.advanceTimersByTime(6_000);
  line.add('b');
  vi.advanceTimersByTime(3_999);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(['a']);
  vi.advanceTimersByTime(6_000);
  expect(expired).toEqual(['a', 'b']);
  line.add('c');
  vi.advanceTimersByTime(9_000);
  expect(line.take(1).items).toEqual(['c']);
  vi.advanceTimersByTime(60_000);
  expect(expired).toEqual(['a', 'b']);
});

test('reports overload for five seconds after a rejection', () => {
  const { line } = aLine();
  line.add('a');
  expect(line.isShedding()).toBe(false);
  vi.advanceTimersByTime(10_000);
  expect(line.isShedding()).toBe(true);
  vi.advanceTimersByTime(5_000);
  expect(line.isShedding()).toBe(false);
});
