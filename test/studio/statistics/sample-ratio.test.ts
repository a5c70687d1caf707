import { describe, expect, test } from 'vitest';
import { logGamma, sampleRatioMismatchPValue } from '../../../src/studio/statistics/sample-ratio.ts';

describe('log-gamma', () => {
  test.each([
    [1, 0],
    [2, 0],
    [0.5, Math.log(Math.sqrt(Math.PI))],
    [6, Math.log(120)],
    [171, 706.573_062_245_787_4],
    [10_000, 82_099.717_496_442_38],
  ])('matches the reference value of %d', (x, value) => expect(logGamma(x)).toBeCloseTo(value, 8));
});

const HALVES = [0.5, 0.5];
const WARNS_BELOW = 0.01;

/** Largest size of the smaller group that triggers a warning, given this number of users and an expected 50:50 split. */
const warnsAt = (users: number): number => {
  const isWarned = (few: number) => sampleRatioMismatchPValue([users - few, few], HALVES) < WARNS_BELOW;
  let few = Math.floor(users / 2);
  while (!isWarned(few)) few -= 1;
  return few;
};

/** True share of the smaller group that triggers a warning in four of five campaigns (normal approximation). */
const shareFound = (users: number): number => {
  const Z_80 = 0.841_62;
  const most = warnsAt(users) + 0.5;
  let share = most / users;
  for (let turn = 0; turn < 50; turn += 1)
    share = (most - Z_80 * Math.sqrt(users * share * (1 - share))) / users;
  return share;
};

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

describe('the sample-ratio test', () => {
  test('matches the definition for small counts', () => {
    // Dirichlet(half, half): the chance of one, then the other, of three users, for each concentration.
    const otherwise = [10, 100, 1_000, 10_000].map((all) => {
      const half = all / 2;
      return (half / all) * ((half + 1) / (all + 1)) * (half / (all + 2));
    });
    const mean = otherwise.reduce((sum, each) => sum + each, 0) / otherwise.length;
    expect(sampleRatioMismatchPValue([2, 1], HALVES)).toBeCloseTo(Math.min(1, 0.5 ** 3 / mean), 10);
    expect(sampleRatioMismatchPValue([3, 0], HALVES)).toBeLessThan(1);
  });

  test('does not report an SRM for balanced groups', () => {
    expect(sampleRatioMismatchPValue([500, 500], HALVES)).toBe(1);
    expect(sampleRatioMismatchPValue([520, 480], HALVES)).toBeGreaterThan(0.5);
    expect(sampleRatioMismatchPValue([4_512, 4_489, 1_003], [0.45, 0.45, 0.1])).toBeGreaterThan(0.5);
    expect(sampleRatioMismatchPValue([0, 0], HALVES)).toBe(1);
  });

  // Next to each: the result of a chi-squared test, which is valid for a single look only.
  test.each([
    { counts: [300, 0], chiSquared: '10⁻⁶⁷' },
    { counts: [200, 80], chiSquared: '7·10⁻¹³' },
    { counts: [1_100, 900], chiSquared: '8·10⁻⁶' },
    { counts: [5_200, 4_800], chiSquared: '6·10⁻⁵' },
    { counts: [100, 900], chiSquared: '10⁻¹⁴⁰' },
    { counts: [52_000, 48_000], chiSquared: '10⁻³⁶' },
  ])('reports $counts at 50 : 50 (chi-squared p $chiSquared)', ({ counts }) =>
    expect(sampleRatioMismatchPValue(counts, HALVES)).toBeLessThan(WARNS_BELOW),
  );

  test('reports a control group planned at 10% that is half as large', () => {
    expect(sampleRatioMismatchPValue([950, 50], [0.9, 0.1])).toBeLessThan(WARNS_BELOW);
    expect(sampleRatioMismatchPValue([900, 100], [0.9, 0.1])).toBe(1);
  });

  // Same table as in docs/reference/studio.md.
  test.each([
    { users: 100, at: 30, found: 26.8 },
    { users: 300, at: 116, found: 36.5 },
    { users: 1_000, at: 439, found: 42.6 },
    { users: 3_000, at: 1_395, found: 45.8 },
    { users: 10_000, at: 4_810, found: 47.7 },
    { users: 100_000, at: 49_398, found: 49.3 },
  ])('reports $users users at a group of $at, and detects a real share of $found% in 80% of runs', (row) => {
    expect(warnsAt(row.users)).toBe(row.at);
    expect(Math.round(shareFound(row.users) * 1_000) / 10).toBe(row.found);
  });

  test('has false positives in at most 1% of campaigns, checked after every ten users', () => {
    const campaigns = 500;
    let alarms = 0;
    for (let campaign = 1; campaign <= campaigns; campaign += 1) {
      const next = random(campaign);
      let one = 0;
      for (let users = 1; users <= 2_000; users += 1) {
        if (next() < 0.5) one += 1;
        if (users % 10 === 0 && sampleRatioMismatchPValue([one, users - one], HALVES) < WARNS_BELOW) {
          alarms += 1;
          break;
        }
      }
    }
    expect(alarms).toBeLessThanOrEqual(campaigns / 100);
  });
});
