import { expect, test } from 'vitest';
import { createRanges, type Range } from '../../src/cli/track/resume-file.ts';
import fc from '../helpers/property.ts';

test('a number is in a range whatever other ranges there are, and in which order they came', () => {
  const range = fc.tuple(fc.nat(60), fc.nat(20)).map(([first, more]): Range => [first, first + more]);
  fc.assert(
    fc.property(fc.array(range, { maxLength: 12 }), (ranges) => {
      const isIn = createRanges(ranges);
      for (let number = 0; number <= 90; number += 1) {
        expect(isIn(number)).toBe(ranges.some(([first, last]) => first <= number && number <= last));
      }
    }),
  );
});
