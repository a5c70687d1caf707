import { isSubscriptionState, SUBSCRIPTION_STATES, type SubscriptionState } from '../../../protocol/index.ts';
import { type ConditionKind, idControl, named } from './condition-kind.ts';

export interface SubscriptionCondition {
  kind: 'group';
  id: string;
  state: SubscriptionState;
}

const PREFIX = 'subscription_groups.';

export const subscription: ConditionKind<SubscriptionCondition> = {
  label: 'Subscription',
  blank: () => ({ kind: 'group', id: '', state: 'subscribed' }),
  read: (name, filter) => {
    if (!name.startsWith(PREFIX)) return null;
    const state = filter[name];
    if (!isSubscriptionState(state)) return 'unsupported';
    return { result: { kind: 'group', id: name.slice(PREFIX.length), state }, names: [name] };
  },
  write: ({ id, state }) => ({ [`${PREFIX}${id}`]: state }),
  isComplete: ({ id }) => id !== '',
  controls: (condition, { subscriptionGroups }) => [
    idControl('Subscription group', subscriptionGroups, condition.id, (id) => ({ ...condition, id })),
    {
      label: 'State',
      type: 'select',
      value: condition.state,
      options: named(...SUBSCRIPTION_STATES),
      onChoose: (state) => ({ ...condition, state: isSubscriptionState(state) ? state : condition.state }),
    },
  ],
};
