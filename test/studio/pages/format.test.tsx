import { expect, test } from 'vitest';
import { getShare, shareText } from '../../../src/studio/pages/components/format.ts';

test('does not show a rate for a day with more clicks than impressions', () => {
  expect([getShare(3, 2), shareText(3, 2)]).toEqual([null, '–']);
  expect([getShare(0, 0), shareText(0, 0)]).toEqual([null, '–']);
  expect([getShare(2, 2), shareText(2, 2)]).toEqual([1, '100.0%']);
});
