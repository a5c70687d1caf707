import { describe, expect, test } from 'vitest';
import { createBatchSizer, MAX_BATCH } from '../../../src/service/results/batch-size.ts';

describe('createBatchSizer', () => {
  test('halves batches after a slow one and doubles them after a fast one', () => {
    const sizer = createBatchSizer();
    sizer.report(200);
    expect(sizer.limits().bannerEvents).toBe(MAX_BATCH.bannerEvents / 2);
    expect(sizer.limits().userChanges).toBe(MAX_BATCH.userChanges / 2);
    sizer.report(20);
    expect(sizer.limits().bannerEvents).toBe(MAX_BATCH.bannerEvents / 2);
    sizer.report(1);
    expect(sizer.limits()).toEqual(MAX_BATCH);
    sizer.report(1);
    expect(sizer.limits()).toEqual(MAX_BATCH);
  });

  test('reads a minimum of rows of each type, even if batches are slow', () => {
    const sizer = createBatchSizer();
    for (let batch = 0; batch < 100; batch += 1) sizer.report(10_000);
    for (const rows of Object.values(sizer.limits())) expect(rows).toBeGreaterThan(5);
  });
});
