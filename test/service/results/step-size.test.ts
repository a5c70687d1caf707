import { describe, expect, test } from 'vitest';
import { createStepSizer, MAX_STEP } from '../../../src/service/results/step-size.ts';

describe('createStepSizer', () => {
  test('halves steps after a slow one and doubles them after a fast one', () => {
    const sizer = createStepSizer();
    sizer.report(200);
    expect(sizer.limits().bannerEvents).toBe(MAX_STEP.bannerEvents / 2);
    expect(sizer.limits().userChanges).toBe(MAX_STEP.userChanges / 2);
    sizer.report(20);
    expect(sizer.limits().bannerEvents).toBe(MAX_STEP.bannerEvents / 2);
    sizer.report(1);
    expect(sizer.limits()).toEqual(MAX_STEP);
    sizer.report(1);
    expect(sizer.limits()).toEqual(MAX_STEP);
  });

  test('reads a minimum of rows of each type, even if steps are slow', () => {
    const sizer = createStepSizer();
    for (let step = 0; step < 100; step += 1) sizer.report(10_000);
    for (const rows of Object.values(sizer.limits())) expect(rows).toBeGreaterThan(5);
  });
});
