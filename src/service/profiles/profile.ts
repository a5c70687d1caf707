import type { UserAlias } from '../../protocol/index.ts';

/** How often and when a user did something. Times are Unix milliseconds. */
export interface Tally {
  first: number;
  last: number;
  count: number;
}

export interface PushToken {
  app_id: string;
  token: string;
  device_id: string;
}

export interface GroupState {
  state: 'subscribed' | 'unsubscribed';
  double_opt_in?: boolean;
}

/** One user. Attribute names and values are the wire's. */
export interface Profile {
  /** Assigned by us, unique in the database. On the wire it is the `braze_id`, as a decimal text. */
  userId: number;
  externalId: string | null;
  aliases: UserAlias[];
  email: string | null;
  phone: string | null;
  /** Standard attributes other than identifiers, e-mail, phone, subscription groups and push tokens. */
  standard: Record<string, unknown>;
  custom: Record<string, unknown>;
  /** By subscription group ID. */
  subscriptionGroups: Record<string, GroupState>;
  pushTokens: PushToken[];
  /** By event name, and by product ID. */
  events: Record<string, Tally>;
  purchases: Record<string, Tally & { revenue: number }>;
  createdAtMs: number;
  updatedAtMs: number;
}

/** A request may be applied after one that came later: the time never goes back. */
export const setUpdated = (profile: Profile, nowMs: number): void => {
  if (nowMs > profile.updatedAtMs) profile.updatedAtMs = nowMs;
};

/** A profile with these members, and all others empty. */
export const completeProfile = (
  known: Partial<Profile> & Pick<Profile, 'userId' | 'createdAtMs' | 'updatedAtMs'>,
): Profile => ({
  userId: known.userId,
  externalId: known.externalId ?? null,
  aliases: known.aliases ?? [],
  email: known.email ?? null,
  phone: known.phone ?? null,
  standard: known.standard ?? {},
  custom: known.custom ?? {},
  subscriptionGroups: known.subscriptionGroups ?? {},
  pushTokens: known.pushTokens ?? [],
  events: known.events ?? {},
  purchases: known.purchases ?? {},
  createdAtMs: known.createdAtMs,
  updatedAtMs: known.updatedAtMs,
});
