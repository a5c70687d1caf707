import { expect, test } from 'vitest';
import { createBrazeIds, serialOf } from '../../../src/service/profiles/braze-id.ts';

const NOW = Date.UTC(2026, 2, 1);

test('IDs grow with time, and where the clock stands still or goes back', () => {
  const newId = createBrazeIds();
  const ids = [NOW, NOW, NOW + 1, NOW - 3_600_000, NOW + 2].map(newId);
  expect(ids).toEqual([...ids].sort());
  expect(new Set(ids.map(serialOf)).size).toBe(5);
});

test('they begin after the last one that is stored', () => {
  expect(serialOf(createBrazeIds(2 ** 51)(NOW))).toBe(2 ** 51 + 1);
});

test('a clock that is wrong by decades or centuries leaves IDs that have a number, and room for more', () => {
  const newId = createBrazeIds();
  for (const year of [2058, 2059, 2099, 9999]) {
    const id = newId(Date.UTC(year, 11, 31));
    expect(id).toMatch(/^[0-9a-f]{25}$/);
    expect(serialOf(id)).not.toBeNull();
  }
  expect(16 ** 13 - serialOf(newId(NOW))!).toBeGreaterThan(10 ** 12);
});

test('a text that is no ID of ours has no number', () => {
  for (const text of ['', 'abc', '0'.repeat(26), 'g'.repeat(25)]) expect(serialOf(text)).toBeNull();
});
