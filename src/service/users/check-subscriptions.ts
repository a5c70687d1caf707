import { isRecord, TRACK_ERROR } from '../../protocol/index.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Problems } from './problems.ts';

export interface GroupChange {
  /** In lower case, as the workspace has it. */
  groupId: string;
  state: 'subscribed' | 'unsubscribed';
  doubleOptIn: boolean;
}

/** Contract 3.4: every bad item is reported and left out, the others count. */
export const checkSubscriptions = (
  value: unknown,
  groups: Workspace['subscriptionGroups'],
  problems: Problems,
): GroupChange[] => {
  if (!Array.isArray(value)) {
    problems.add(TRACK_ERROR.badSubscriptionGroupArray);
    return [];
  }
  const changes: GroupChange[] = [];
  for (const item of value) {
    if (!isRecord(item) || !('subscription_group_id' in item) || !('subscription_state' in item)) {
      problems.add(TRACK_ERROR.badSubscriptionGroupHash);
      continue;
    }
    const { subscription_group_id, subscription_state, use_double_opt_in_logic } = item;
    const groupId = typeof subscription_group_id === 'string' ? subscription_group_id.toLowerCase() : '';
    const group = groups.get(groupId);
    if (!group) {
      problems.add(TRACK_ERROR.badSubscriptionGroupId);
    } else if (subscription_state !== 'subscribed' && subscription_state !== 'unsubscribed') {
      problems.add(TRACK_ERROR.badSubscriptionGroupState);
    } else {
      // Double opt-in belongs to SMS; asked for elsewhere it is ignored without an error.
      const doubleOptIn =
        use_double_opt_in_logic === true && group.channel === 'sms' && subscription_state === 'subscribed';
      changes.push({ groupId, state: subscription_state, doubleOptIn });
    }
  }
  return changes;
};
