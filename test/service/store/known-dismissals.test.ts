import { expect, test } from 'vitest';
import { createKnownDismissals } from '../../../src/service/store/sqlite/known-dismissals.ts';
import type { Dismissal } from '../../../src/service/store/store.ts';

const aDismissal = (count: number): Dismissal => ({ campaignId: 'campaign', dismissedAtMs: 1, count });

const known = (capacity?: number) => {
  const asked: string[] = [];
  const dismissals = createKnownDismissals((workspaceId, userId) => {
    asked.push(`${workspaceId} ${userId}`);
    return userId === 'nobody' ? [] : [aDismissal(asked.length)];
  }, capacity);
  return { asked, dismissals };
};

test('the file is asked once for each user of each workspace', () => {
  const { asked, dismissals } = known();
  for (const userId of ['u-1', 'nobody', 'u-1', 'nobody']) dismissals.of('demo', userId);
  expect(dismissals.of('demo', 'u-1')).toEqual([aDismissal(1)]);
  expect(dismissals.of('demo', 'nobody')).toEqual([]);
  dismissals.of('other', 'u-1');
  expect(asked).toEqual(['demo u-1', 'demo nobody', 'other u-1']);
});

test('the file is asked again once something was stored', () => {
  const { dismissals } = known();
  dismissals.of('demo', 'u-1');
  dismissals.forget('demo', 'u-1');
  expect(dismissals.of('demo', 'u-1')).toEqual([aDismissal(2)]);
  dismissals.clear();
  expect(dismissals.of('demo', 'u-1')).toEqual([aDismissal(3)]);
});

test('users who do not ask again are let go, those who do stay', () => {
  const { asked, dismissals } = known(2);
  for (const userId of ['often', 'a', 'often', 'b', 'often', 'c', 'often', 'd', 'often', 'a']) {
    dismissals.of('demo', userId);
  }
  expect(asked.filter((name) => name === 'demo often')).toHaveLength(1);
  expect(asked.filter((name) => name === 'demo a')).toHaveLength(2);
});

test('a user in the older generation is forgotten too', () => {
  const { asked, dismissals } = known(1);
  dismissals.of('demo', 'u-1');
  dismissals.of('demo', 'u-2');
  dismissals.forget('demo', 'u-1');
  dismissals.of('demo', 'u-1');
  expect(asked.filter((name) => name === 'demo u-1')).toHaveLength(2);
});
