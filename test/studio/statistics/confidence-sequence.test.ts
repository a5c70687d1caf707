import { describe, expect, test } from 'vitest';
import {
  difference,
  getMean,
  proportion,
  sequenceHalfWidth,
} from '../../../src/studio/statistics/confidence-sequence.ts';

const Z_95 = 1.959_964;

/** Deterministic numbers from 0 up to 1 (mulberry32). */
const random = (seed: number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
};

/** Number of A/A experiments with a false positive, checked every 25 users per group. */
const falseAlarms = (experiments: number, isAlarm: (n: number, a: number, b: number) => boolean): number => {
  let alarms = 0;
  for (let experiment = 0; experiment < experiments; experiment += 1) {
    const next = random(experiment + 1);
    let [a, b] = [0, 0];
    for (let n = 1; n <= 2_000; n += 1) {
      if (next() < 0.2) a += 1;
      if (next() < 0.2) b += 1;
      if (n >= 50 && n % 25 === 0 && isAlarm(n, a, b)) {
        alarms += 1;
        break;
      }
    }
  }
  return alarms;
};

describe('the confidence sequence', () => {
  // Values of GrowthBook's public test suite for sequential tests, with its standard errors.
  test.each([
    { of: 'proportions', error: 0.03386, planned: 5_000, low: 0.40098, high: 0.60675 },
    { of: 'means', error: 0.33341, planned: 1_000, low: -0.55844, high: 1.56516 },
  ])('matches the width of a published implementation, of $of', ({ error, planned, low, high }) => {
    const half = sequenceHalfWidth(error, 3_000 + 3_461, planned, 0.05);
    expect(half).toBeCloseTo((high - low) / 2, 4);
  });

  test('is wider than a fixed-sample interval, by less than a factor of two near the plan', () => {
    for (const n of [500, 5_000, 50_000]) {
      const half = sequenceHalfWidth(1 / Math.sqrt(n), n, 5_000, 0.05);
      expect(half * Math.sqrt(n)).toBeGreaterThan(Z_95);
    }
    expect(sequenceHalfWidth(1, 5_000, 5_000, 0.05)).toBeLessThan(2 * Z_95);
  });

  test('is narrowest at the planned sample size', () => {
    const at = (planned: number) => sequenceHalfWidth(1, 5_000, planned, 0.05);
    expect(at(5_000)).toBeLessThan(at(500));
    expect(at(5_000)).toBeLessThan(at(50_000));
  });

  test('reports a false difference in at most 5% of experiments, checked after every 25 users', () => {
    const alarms = falseAlarms(200, (n, a, b) => {
      const { low, high } = difference(proportion(n, a), proportion(n, b), 2_000, 0.05);
      return low > 0 || high < 0;
    });
    expect(alarms).toBeLessThanOrEqual(10);
  });

  test('is necessary, because a fixed-sample interval reports false differences far more often', () => {
    const alarms = falseAlarms(200, (n, a, b) => {
      const [p, q] = [a / n, b / n];
      const se = Math.sqrt((p * (1 - p)) / n + (q * (1 - q)) / n);
      return Math.abs(p - q) > Z_95 * se;
    });
    expect(alarms).toBeGreaterThan(30);
  });

  test('contains a real difference', () => {
    const found = difference(proportion(3_000, 450), proportion(3_000, 300), 6_000, 0.05);
    expect(found.estimate).toBeCloseTo(0.05, 10);
    expect(found.low).toBeGreaterThan(0);
    expect(found.high).toBeLessThan(0.1);
  });

  test('computes means of revenue from sums and sums of squares', () => {
    const one = { n: 4, sum: 20, sumOfSquares: 10 ** 2 + 10 ** 2 };
    const other = { n: 4, sum: 0, sumOfSquares: 0 };
    expect(getMean(one)).toBe(5);
    expect(difference(one, other, 100, 0.05).estimate).toBe(5);
    expect(getMean({ n: 0, sum: 0, sumOfSquares: 0 })).toBe(0);
  });
});
