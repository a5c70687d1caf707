import { expect, test } from 'vitest';
import { suggest } from '../../src/service/suggest.ts';
import fc, { times } from '../helpers/property.ts';

const NAMES = ['first_name', 'last_name', 'home_city', 'dob'];

test.each([
  ['frst_name', 'first_name'],
  ['firstName', 'first_name'],
  ['FIRST NAME', 'first_name'],
  ['lastname', 'last_name'],
  ['bob', 'dob'],
  ['first_name', 'first_name'],
])('suggests for %s: %s', (written, meant) => {
  expect(suggest(written, NAMES)).toBe(meant);
});

test.each(['tier', 'x', '', 'name_of_the_first'])('does not suggest anything for "%s"', (written) => {
  expect(suggest(written, NAMES)).toBeNull();
});

test('returns at once without a suggestion for a text of 4 MB', () => {
  const long = 'a'.repeat(4_000_000);
  const started = process.cpuUsage();
  expect(suggest(long, NAMES)).toBeNull();
  expect(suggest('dob', [long])).toBeNull();
  // Comparing them character by character takes seconds.
  expect(process.cpuUsage(started).user).toBeLessThan(500_000);
});

/** Edit distance by definition, cell by cell. */
const distance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...to].entries()) {
      next.push(Math.min(row[j]! + (letter === other ? 0 : 1), row[j + 1]! + 1, next[j]! + 1));
    }
    row = next;
  }
  return row.at(-1)!;
};

test('finds the result of the full distance matrix with only a band of it', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 9 });
  fc.assert(
    fc.property(word, fc.array(word, { maxLength: 6 }), (name, names) => {
      const most = Math.min(2, Math.floor(name.length / 2));
      const counts = names.map((each) => distance(name, each));
      const fewest = Math.min(...counts);
      expect(suggest(name, names)).toBe(fewest <= most ? names[counts.indexOf(fewest)] : null);
    }),
    { numRuns: times(2_000) },
  );
});
