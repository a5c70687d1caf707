import { describe, expect, test } from 'vitest';
import { scheduleState } from '../../../src/studio/campaign/campaign-json.ts';
import { getShares } from '../../../src/studio/campaign/shares.ts';

const variants = (...weights: (number | undefined)[]) =>
  weights.map((weight, index) => ({
    variant_id: `v${index}`,
    properties: {},
    ...(weight !== undefined && { weight }),
  }));

const percents = (control: number, ...weights: (number | undefined)[]) =>
  getShares({ control_percentage: control, variants: variants(...weights) }).map(({ percent }) => percent);

describe('the shares of an audience', () => {
  test('follow the weights, with a default of 1', () => {
    expect(percents(0, 60, 40)).toEqual([60, 40]);
    expect(percents(0, undefined, 3)).toEqual([25, 75]);
  });

  test('subtract the control group first', () => {
    expect(percents(10, 1, 1)).toEqual([45, 45, 10]);
  });

  test('are zero if every weight is 0', () => expect(percents(0, 0, 0)).toEqual([0, 0]));
});

describe('the state of a campaign', () => {
  const now = Date.parse('2026-03-04T12:00:00Z');
  test.each([
    [{ status: 'draft' as const }, 'draft'],
    [{ status: 'stopped' as const, ends_at: '2026-01-01T00:00:00Z' }, 'stopped'],
    [{ status: 'active' as const }, 'live'],
    [{ status: 'active' as const, starts_at: '2026-03-05T00:00:00Z' }, 'planned'],
    [{ status: 'active' as const, ends_at: '2026-03-04T12:00:00Z' }, 'over'],
    [{ status: 'active' as const, starts_at: '2026-03-04T12:00:00Z', ends_at: null }, 'live'],
  ])('of %j is %s', (campaign, state) => expect(scheduleState(campaign, now)).toBe(state));
});
