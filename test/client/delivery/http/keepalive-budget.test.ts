import { describe, expect, test } from 'vitest';
import { createKeepaliveBudget } from '../../../../src/client/delivery/sender/batch.ts';
import { createVirtualClock } from '../../../../src/testing/index.ts';

describe('the keepalive budget', () => {
  test('counts what is in flight, and gives it back once', () => {
    const budget = createKeepaliveBudget(() => 0);
    const first = budget.take(50_000, false)!;
    expect(budget.take(10_001, true)).toBeUndefined();
    expect(budget.take(10_000, true)).toBeDefined();
    first();
    first();
    expect(budget.left()).toBe(50_000);
  });

  test('is halved by a refusal down to a floor, and recovers', () => {
    const budget = createKeepaliveBudget(() => 0);
    budget.refused();
    expect(budget.left()).toBe(30_000);
    for (let i = 0; i < 10; i += 1) budget.refused();
    expect(budget.left()).toBe(4_000);
    for (let i = 0; i < 10; i += 1) budget.recover();
    expect(budget.left()).toBe(60_000);
  });

  test('after a refusal a page that stays does without for a minute, one that goes does not', async () => {
    const clock = createVirtualClock();
    const budget = createKeepaliveBudget(clock.monotonic);
    budget.refused();
    expect(budget.take(100, false)).toBeUndefined();
    expect(budget.take(100, true)).toBeDefined();
    await clock.advance(60_000);
    expect(budget.take(100, false)).toBeDefined();
  });
});
