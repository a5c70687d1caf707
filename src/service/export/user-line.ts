import type { Profile } from '../profiles/profile.ts';

const iso = (ms: number) => new Date(ms).toISOString();

const tallies = (records: Record<string, { first: number; last: number; count: number; revenue?: number }>) =>
  Object.entries(records).map(([name, { first, last, count }]) => ({
    name,
    first: iso(first),
    last: iso(last),
    count,
  }));

/** One user in the wire's words; members without a value are left out. */
export const userLine = (profile: Profile): Record<string, unknown> => {
  const groups = Object.entries(profile.subscriptionGroups);
  const members: Record<string, unknown> = {
    external_id: profile.externalId,
    braze_id: String(profile.userId),
    user_aliases: profile.aliases,
    email: profile.email,
    phone: profile.phone,
    ...profile.standard,
    custom_attributes: profile.custom,
    subscription_groups: groups.map(([id, { state }]) => ({
      subscription_group_id: id,
      subscription_state: state,
    })),
    push_tokens: profile.pushTokens,
    devices: [...new Set(profile.pushTokens.map(({ device_id }) => device_id))].map((device_id) => ({
      device_id,
    })),
    custom_events: tallies(profile.events),
    purchases: tallies(profile.purchases),
    created_at: iso(profile.createdAtMs),
  };
  const isEmpty = (value: unknown) =>
    value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(members).filter(([, value]) => !isEmpty(value)));
};
