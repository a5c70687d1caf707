import { expect, test } from 'vitest';
import { nearest } from '../../src/service/nearest.ts';

const NAMES = ['first_name', 'last_name', 'home_city', 'dob'];

test.each([
  ['frst_name', 'first_name'],
  ['firstName', 'first_name'],
  ['FIRST NAME', 'first_name'],
  ['lastname', 'last_name'],
  ['bob', 'dob'],
  ['first_name', 'first_name'],
])('%s was probably meant as %s', (written, meant) => {
  expect(nearest(written, NAMES)).toBe(meant);
});

test.each(['tier', 'x', '', 'name_of_the_first'])('"%s" is near to none', (written) => {
  expect(nearest(written, NAMES)).toBeNull();
});

test('a text that is no word is near to none, and costs no time', () => {
  const long = 'a'.repeat(4_000_000);
  const started = process.cpuUsage();
  expect(nearest(long, NAMES)).toBeNull();
  expect(nearest('dob', [long])).toBeNull();
  // Comparing them letter by letter takes seconds.
  expect(process.cpuUsage(started).user).toBeLessThan(500_000);
});
