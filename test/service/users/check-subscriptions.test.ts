import { expect, test } from 'vitest';
import { createErrorCollector } from '../../../src/service/users/error-collector.ts';

import { checkSubscriptions } from '../../../src/service/users/subscriptions.ts';
import type { Workspace } from '../../../src/service/workspace/workspace.ts';

const groups: Workspace['subscriptionGroups'] = new Map([
  ['letters', { name: 'Letters', channel: 'email' }],
  ['offers', { name: 'Offers', channel: 'sms' }],
]);

test.each([
  ['offers', 'subscribed', true],
  ['offers', 'unsubscribed', false],
  ['letters', 'subscribed', false],
])(
  'contract 3.4: requires double opt-in only for subscribed SMS: %s, %s, %s',
  (groupId, state, doubleOptIn) => {
    const item = {
      subscription_group_id: groupId,
      subscription_state: state,
      use_double_opt_in_logic: true,
    };
    const problems = createErrorCollector();
    expect(checkSubscriptions([item], groups, problems)).toEqual([{ groupId, state, doubleOptIn }]);
    expect(problems.entries).toEqual([]);
  },
);
