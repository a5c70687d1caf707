import { expect, test } from 'vitest';
import { createUserIds, parseUserId } from '../../../src/service/profiles/lookup.ts';

const NOW = Date.UTC(2026, 2, 1);

test('creates increasing IDs, even if the clock stands still or moves back', () => {
  const { next } = createUserIds();
  const ids = [NOW, NOW, NOW + 1, NOW - 3_600_000, NOW + 2].map(next);
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  expect(new Set(ids).size).toBe(5);
});

test('creates IDs after the last stored one', () => {
  const last = 2 ** 52;
  const id = createUserIds(last).next(NOW);
  expect(id).toBeGreaterThan(last);
  expect(id).toBeLessThanOrEqual(last + 64);
});

test('creates safe integers, even if the clock is wrong by centuries', () => {
  const { next } = createUserIds();
  const ids = [2058, 2099, 2300, 9999].map((year) => next(Date.UTC(year, 11, 31)));
  for (const id of [...ids, next(NOW)]) {
    expect(Number.isSafeInteger(id)).toBe(true);
    expect(parseUserId(String(id))).toBe(id);
  }
  expect(Number.MAX_SAFE_INTEGER - next(NOW)).toBeGreaterThan(10 ** 12);
});

test('creates unique IDs on replicas whose offsets differ, or after one of them changes its offset', () => {
  const taken = new Set<number>();
  const ids = Array.from({ length: 60 }, () => createUserIds());
  const offsets = new Map(ids.map((each) => [each.next(NOW) % 64, each]));
  expect(offsets.size).toBeGreaterThan(20);
  for (const { next } of offsets.values()) {
    for (let n = 0; n < 100; n += 1) {
      const id = next(NOW + n);
      expect(taken.has(id)).toBe(false);
      taken.add(id);
    }
  }
  const aReplica = () => {
    const replica = createUserIds();
    return { ...replica, first: replica.next(NOW) };
  };
  const one = aReplica();
  let other = aReplica();
  while (other.first !== one.first) other = aReplica();
  expect(one.next(NOW + 1)).toBe(other.next(NOW + 1));
  let [mine, theirs] = [0, 0];
  while (mine === theirs) {
    other.changeOffset();
    [mine, theirs] = [one.next(NOW + 2), other.next(NOW + 2)];
  }
});

test('rejects an ID in another format', () => {
  const texts = ['', 'abc', '0', '012', '1.5', '-3', '1e9', ' 7', '9'.repeat(16), '9007199254740993'];
  for (const text of texts) expect(parseUserId(text), text).toBeNull();
});
