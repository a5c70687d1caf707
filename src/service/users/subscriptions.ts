import {
  comparableEmail,
  isRecord,
  isSubscriptionState,
  type SubscriptionState,
  TRACK_ERROR,
} from '../../protocol/index.ts';
import type { AttributesUser } from '../../protocol/schemas/index.ts';
import type { Profile } from '../profiles/profile.ts';
import type { UserRepository } from '../profiles/user-repository.ts';
import type { ErrorCollector } from './error-collector.ts';
import type { UserFinder } from './find-user.ts';
import type { UserRules } from './user-rules.ts';

export interface GroupChange {
  /** Group ID in lower case, as in the workspace. */
  groupId: string;
  state: SubscriptionState;
  doubleOptIn: boolean;
}

/** Checks subscriptions (contract 3.4). Reports invalid items, and returns the others. */
export const checkSubscriptions = (
  value: unknown,
  groups: UserRules['subscriptionGroups'],
  errors: ErrorCollector,
): GroupChange[] => {
  if (!Array.isArray(value)) {
    errors.add(TRACK_ERROR.badSubscriptionGroupArray);
    return [];
  }
  const changes: GroupChange[] = [];
  for (const item of value) {
    if (!isRecord(item) || !('subscription_group_id' in item) || !('subscription_state' in item)) {
      errors.add(TRACK_ERROR.badSubscriptionGroupHash);
      continue;
    }
    const { subscription_group_id, subscription_state, use_double_opt_in_logic } = item;
    const groupId = typeof subscription_group_id === 'string' ? subscription_group_id.toLowerCase() : '';
    const group = groups.get(groupId);
    if (!group) {
      errors.add(TRACK_ERROR.badSubscriptionGroupId);
    } else if (!isSubscriptionState(subscription_state)) {
      errors.add(TRACK_ERROR.badSubscriptionGroupState);
    } else {
      // Double opt-in applies to SMS only.
      const doubleOptIn =
        use_double_opt_in_logic === true && group.channel === 'sms' && subscription_state === 'subscribed';
      changes.push({ groupId, state: subscription_state, doubleOptIn });
    }
  }
  return changes;
};

/** Writes a state. Returns whether it changed. */
export const writeSubscription = (
  profile: Profile,
  { groupId, state, doubleOptIn }: GroupChange,
): boolean => {
  const before = profile.subscriptionGroups[groupId];
  if (before?.state === state && (before.double_opt_in ?? false) === doubleOptIn) return false;
  profile.subscriptionGroups[groupId] = doubleOptIn ? { state, double_opt_in: true } : { state };
  return true;
};

/** Writes the email subscription state. Returns whether it changed. */
const writeEmailState = (profile: Profile, state: unknown): boolean => {
  if (profile.standard['email_subscribe'] === state) return false;
  profile.standard['email_subscribe'] = state;
  return true;
};

/** Subscription changes of one object of `attributes`. */
interface SubscriptionChanges extends Pick<AttributesUser, 'identity'> {
  groups: readonly GroupChange[];
  standard: readonly { name: string; value: unknown }[];
}

/** Returns the email address to whose users the subscription states of this object propagate (contract 3.4). */
export const propagatesTo = ({ identity, groups, standard }: SubscriptionChanges): string | null => {
  if (identity?.lookup.by !== 'external_id' || typeof identity.email !== 'string') return null;
  const setsState = groups.length > 0 || standard.some(({ name }) => name === 'email_subscribe');
  return setsState ? identity.email : null;
};

/** Latest states for an address, each with the number of the object that set it. */
interface States {
  email: { state: unknown; number: number } | null;
  groups: Map<string, { group: GroupChange; number: number }>;
}

/**
 * Propagates subscription states to every user with the same address, with the same result as after each object. Thousands of
 * users may share an address that a thousand objects name, so a profile is updated when an object changes it, and all other
 * profiles once at the end.
 */
export const createPropagation = (users: UserRepository, finder: UserFinder) => {
  const byAddress = new Map<string, States>();
  /** Number of the latest object that set a state. */
  let latest = 0;
  /** Number of the last object applied to each profile. */
  const reached = new Map<Profile, number>();

  const getStates = (email: string): States => {
    const address = comparableEmail(email);
    const states = byAddress.get(address) ?? { email: null, groups: new Map() };
    byAddress.set(address, states);
    return states;
  };

  /** Applies the states set so far for the address of a profile. Call it before an object changes an existing profile. */
  const propagateTo = (profile: Profile) => {
    const states = profile.email === null ? undefined : byAddress.get(comparableEmail(profile.email));
    if (!states) return;
    const known = reached.get(profile) ?? 0;
    const { email, groups } = states;
    let isChanged = email !== null && email.number > known && writeEmailState(profile, email.state);
    for (const { group, number } of groups.values()) {
      if (number > known && writeSubscription(profile, group)) isChanged = true;
    }
    if (isChanged) finder.changed(profile);
  };

  return {
    propagateTo,

    /**
     * Records the states that an object sets, and that the profile already has them. Call it after each object, which may have
     * changed the address.
     */
    recordStates(profile: Profile, checked: SubscriptionChanges) {
      const address = propagatesTo(checked);
      if (address !== null) {
        latest += 1;
        const states = getStates(address);
        for (const group of checked.groups) states.groups.set(group.groupId, { group, number: latest });
        for (const { name, value } of checked.standard) {
          if (name === 'email_subscribe') states.email = { state: value, number: latest };
        }
      }
      if (latest > 0) reached.set(profile, latest);
    },

    /** Applies the states to all other profiles. Call it after the last object. */
    finish() {
      for (const value of byAddress.keys()) users.find({ by: 'email', value }).forEach(propagateTo);
    },
  };
};
