import { describe, expect, test } from 'vitest';
import { createPace, STEP } from '../../../src/service/results/pace.ts';

describe('createPace', () => {
  test('halves steps after a slow one and doubles them after a fast one', () => {
    const pace = createPace();
    pace.report(200);
    expect(pace.limits().bannerEvents).toBe(STEP.bannerEvents / 2);
    expect(pace.limits().userChanges).toBe(STEP.userChanges / 2);
    pace.report(20);
    expect(pace.limits().bannerEvents).toBe(STEP.bannerEvents / 2);
    pace.report(1);
    expect(pace.limits()).toEqual(STEP);
    pace.report(1);
    expect(pace.limits()).toEqual(STEP);
  });

  test('reads a minimum of rows of each type, even if steps are slow', () => {
    const pace = createPace();
    for (let step = 0; step < 100; step += 1) pace.report(10_000);
    for (const rows of Object.values(pace.limits())) expect(rows).toBeGreaterThan(5);
  });
});
