import { describe, expect, test } from 'vitest';
import { drawn, lot } from '../../../src/service/campaigns/lot.ts';

const USERS = Array.from({ length: 20_000 }, (_, index) => `user-${index}`);

/** Five standard deviations of a share among that many users. */
const tolerance = (share: number) => 5 * Math.sqrt((share * (1 - share)) / USERS.length);

const shareOf = (holds: (user: string) => boolean) => USERS.filter(holds).length / USERS.length;

describe('a lot', () => {
  test('is the same each time, and another for another word or another boundary between words', () => {
    expect(lot('a', 'b')).toBe(lot('a', 'b'));
    expect(new Set([lot('a', 'b'), lot('b', 'a'), lot('ab'), lot('a', 'b', ''), lot('a,b')]).size).toBe(5);
  });

  test('falls evenly', () => {
    const quarters = [0, 0, 0, 0];
    for (const user of USERS) quarters[Math.floor(lot('w', 'c', user) * 4)]! += 1;
    for (const count of quarters) {
      expect(Math.abs(count / USERS.length - 0.25)).toBeLessThan(tolerance(0.25));
    }
  });

  test('of two campaigns has nothing to do with each other', () => {
    const both = shareOf((user) => lot('w', 'c1', user) < 0.1 && lot('w', 'c2', user) < 0.1);
    expect(Math.abs(both - 0.01)).toBeLessThan(tolerance(0.01));
  });
});

describe('a draw', () => {
  const variants = [
    { id: 'a', weight: 70 },
    { id: 'b', weight: 30 },
    { id: 'never', weight: 0 },
  ];

  test('follows the weights', () => {
    const share = shareOf((user) => drawn(variants, lot('w', 'c', user))?.id === 'a');
    expect(Math.abs(share - 0.7)).toBeLessThan(tolerance(0.7));
    expect(USERS.every((user) => drawn(variants, lot('w', 'c', user))?.id !== 'never')).toBe(true);
  });

  test('moves only those whose share moved when the weights change', () => {
    const grown = [
      { id: 'a', weight: 80 },
      { id: 'b', weight: 20 },
    ];
    const moved = USERS.filter((user) => {
      const chance = lot('w', 'c', user);
      return drawn(variants, chance)?.id !== drawn(grown, chance)?.id;
    });
    expect(moved.length / USERS.length).toBeLessThan(0.1 + tolerance(0.1));
    expect(moved.every((user) => drawn(grown, lot('w', 'c', user))?.id === 'a')).toBe(true);
  });

  test('takes the last one with a weight at the very end, and none of none', () => {
    expect(drawn(variants, 0.9999999999999999)?.id).toBe('b');
    expect(drawn([{ weight: 0 }], 0.5)).toBeUndefined();
    expect(drawn([], 0.5)).toBeUndefined();
  });
});
