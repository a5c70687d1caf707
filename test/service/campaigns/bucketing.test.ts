import { describe, expect, test } from 'vitest';
import { getBuckets, pickWeighted } from '../../../src/service/campaigns/bucketing.ts';

const USERS = Array.from({ length: 20_000 }, (_, index) => `user-${index}`);

/** Five standard deviations of a share in this number of users. */
const tolerance = (share: number) => 5 * Math.sqrt((share * (1 - share)) / USERS.length);

const getShare = (holds: (user: string) => boolean) => USERS.filter(holds).length / USERS.length;

describe('the buckets of a user', () => {
  test('are stable, and differ by salt and by the boundary between its parts', () => {
    expect(getBuckets('w', 'c', 'u')).toEqual(getBuckets('w', 'c', 'u'));
    const others = [
      getBuckets('w', 'c', 'u'),
      getBuckets('w', 'u', 'c'),
      getBuckets('wc', '', 'u'),
      getBuckets('w', '', 'cu'),
      getBuckets('w', 'c,u', ''),
    ];
    expect(new Set(others.map(({ control }) => control)).size).toBe(others.length);
    expect(new Set(others.map(({ variant }) => variant)).size).toBe(others.length);
  });

  test('never change between releases', () => {
    expect(getBuckets('demo', 'spring', 'u-771')).toEqual({
      control: 0.6804096162237556,
      variant: 0.5042308700236511,
    });
    expect(getBuckets('demo', 'spring', 'Łódź')).toEqual({
      control: 0.6874351559061118,
      variant: 0.2787690777680609,
    });
  });

  test('are uniformly distributed', () => {
    for (const which of ['control', 'variant'] as const) {
      const quarters = [0, 0, 0, 0];
      for (const user of USERS) quarters[Math.floor(getBuckets('w', 'c', user)[which] * 4)]! += 1;
      for (const count of quarters) {
        expect(Math.abs(count / USERS.length - 0.25)).toBeLessThan(tolerance(0.25));
      }
    }
  });

  test('are independent between campaigns and between the draws of one campaign', () => {
    const both = getShare(
      (user) => getBuckets('w', 'c1', user).control < 0.1 && getBuckets('w', 'c2', user).control < 0.1,
    );
    expect(Math.abs(both - 0.01)).toBeLessThan(tolerance(0.01));
    const mixed = getShare(
      (user) => getBuckets('w', 'c', user).control < 0.1 && getBuckets('w', 'c', user).variant < 0.1,
    );
    expect(Math.abs(mixed - 0.01)).toBeLessThan(tolerance(0.01));
  });
});

describe('a draw', () => {
  const variants = [
    { id: 'a', weight: 70 },
    { id: 'b', weight: 30 },
    { id: 'never', weight: 0 },
  ];

  test('follows the weights', () => {
    const share = getShare((user) => pickWeighted(variants, getBuckets('w', 'c', user).variant)?.id === 'a');
    expect(Math.abs(share - 0.7)).toBeLessThan(tolerance(0.7));
    expect(
      USERS.every((user) => pickWeighted(variants, getBuckets('w', 'c', user).variant)?.id !== 'never'),
    ).toBe(true);
  });

  test('moves only the necessary users if the weights change', () => {
    const grown = [
      { id: 'a', weight: 80 },
      { id: 'b', weight: 20 },
    ];
    const moved = USERS.filter((user) => {
      const chance = getBuckets('w', 'c', user).variant;
      return pickWeighted(variants, chance)?.id !== pickWeighted(grown, chance)?.id;
    });
    expect(moved.length / USERS.length).toBeLessThan(0.1 + tolerance(0.1));
    expect(moved.every((user) => pickWeighted(grown, getBuckets('w', 'c', user).variant)?.id === 'a')).toBe(
      true,
    );
  });

  test('selects the last option with a weight at the upper end, and returns `undefined` for an empty list', () => {
    expect(pickWeighted(variants, 0.9999999999999999)?.id).toBe('b');
    expect(pickWeighted([{ weight: 0 }], 0.5)).toBeUndefined();
    expect(pickWeighted([], 0.5)).toBeUndefined();
  });
});
