import { describe, expect, test } from 'vitest';
import { logGamma } from '../../../src/studio/statistics/log-gamma.ts';
import { sampleRatioP } from '../../../src/studio/statistics/sample-ratio.ts';

describe('the logarithm of the gamma function', () => {
  test.each([
    [1, 0],
    [2, 0],
    [0.5, Math.log(Math.sqrt(Math.PI))],
    [6, Math.log(120)],
    [171, 706.573_062_245_787_4],
    [10_000, 82_099.717_496_442_38],
  ])('of %d', (x, value) => expect(logGamma(x)).toBeCloseTo(value, 8));
});

describe('the sample-ratio test', () => {
  test('is what the definition gives for counts small enough to multiply', () => {
    // Dirichlet(5,000, 5,000): the chance of one, then the other, of three people.
    const otherwise = (5_000 / 10_000) * (5_001 / 10_001) * (5_000 / 10_002);
    expect(sampleRatioP([2, 1], [0.5, 0.5])).toBeCloseTo(Math.min(1, 0.5 ** 3 / otherwise), 10);
  });

  test('has no doubt of groups that are as large as they should be', () => {
    expect(sampleRatioP([500, 500], [0.5, 0.5])).toBe(1);
    expect(sampleRatioP([4_512, 4_489, 1_003], [0.45, 0.45, 0.1])).toBeGreaterThan(0.5);
  });

  // The same cases as in the public test suite of GrowthBook's statistics engine.
  test('finds groups that are not', () => {
    expect(sampleRatioP([100, 900], [0.5, 0.5])).toBeLessThan(0.05);
    expect(sampleRatioP([8_000, 2_000], [0.5, 0.5])).toBeLessThan(1e-6);
  });

  test('finds a deviation of two points once enough people were divided', () => {
    expect(sampleRatioP([520, 480], [0.5, 0.5])).toBeGreaterThan(0.5);
    expect(sampleRatioP([52_000, 48_000], [0.5, 0.5])).toBeLessThan(0.01);
  });
});
