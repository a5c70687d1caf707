import { expect, test } from 'vitest';
import { formatShare, getShare } from '../../../src/studio/pages/components/format.ts';
import {
  formatLift,
  formatMoney,
  formatSignedPoints,
} from '../../../src/studio/statistics/format-difference.ts';

test('does not show a rate for a day with more clicks than impressions', () => {
  expect([getShare(3, 2), formatShare(3, 2)]).toEqual([null, '–']);
  expect([getShare(0, 0), formatShare(0, 0)]).toEqual([null, '–']);
  expect([getShare(2, 2), formatShare(2, 2)]).toEqual([1, '100.0%']);
});

test('shows negative numbers with one minus sign, and zero without a sign', () => {
  expect([formatLift(-0.03), formatSignedPoints(-1.25), formatMoney(-1_234.5)]).toEqual([
    '−3%',
    '−1.3',
    '−1,234.50',
  ]);
  expect([formatLift(0), formatSignedPoints(-0.01), formatSignedPoints(9.2)]).toEqual(['0%', '0.0', '+9.2']);
});
