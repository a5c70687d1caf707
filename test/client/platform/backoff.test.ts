import { describe, expect, test } from 'vitest';
import { backoffMs } from '../../../src/client/platform/waits.ts';
import fc from '../../helpers/property.ts';

describe('backoff', () => {
  test('doubles its ceiling up to five minutes', () => {
    const ceilings = [1, 2, 3, 8, 9, 50].map((failures) => backoffMs(failures, () => 1));
    expect(ceilings).toEqual([2_000, 4_000, 8_000, 256_000, 300_000, 300_000]);
  });
  test('jitters over nearly all of it, and never under a tenth', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (failures, share) => {
          const ceiling = backoffMs(failures, () => 1);
          const wait = backoffMs(failures, () => share);
          expect(wait).toBeGreaterThanOrEqual(ceiling / 10 - 1);
          expect(wait).toBeLessThanOrEqual(ceiling);
        },
      ),
    );
  });
});
