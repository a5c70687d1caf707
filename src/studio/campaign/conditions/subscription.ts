import { type ConditionKind, idControl, named } from './condition-kind.ts';

export interface SubscriptionCondition {
  kind: 'group';
  id: string;
  state: 'subscribed' | 'unsubscribed';
}

const PREFIX = 'subscription_groups.';

export const subscription: ConditionKind<SubscriptionCondition> = {
  label: 'Subscription',
  blank: () => ({ kind: 'group', id: '', state: 'subscribed' }),
  read: (name, filter) => {
    if (!name.startsWith(PREFIX)) return null;
    const state = filter[name];
    if (state !== 'subscribed' && state !== 'unsubscribed') return 'unsupported';
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
      options: named('subscribed', 'unsubscribed'),
      onChoose: (state) => ({ ...condition, state: state === 'subscribed' ? state : 'unsubscribed' }),
    },
  ],
};
