import type { Identity } from '../../protocol/index.ts';
import type { Profile } from '../profiles/profile.ts';
import type { UserSet } from '../profiles/user-set.ts';

/** Negative when `a` was updated later; of two updated at once, when it was created later. */
const latestFirst = (a: Profile, b: Profile): number =>
  b.updatedAtMs - a.updatedAtMs || b.createdAtMs - a.createdAtMs || b.userId - a.userId;

/** In one pass: thousands may share an address, and each object of a request asks anew. */
const best = (profiles: readonly Profile[], isBetter: (a: Profile, b: Profile) => boolean): Profile | null =>
  profiles.reduce<Profile | null>((found, each) => (found && !isBetter(each, found) ? found : each), null);

export const latestOf = (profiles: readonly Profile[]): Profile | null =>
  best(profiles, (a, b) => latestFirst(a, b) < 0);
export const earliestOf = (profiles: readonly Profile[]): Profile | null =>
  best(profiles, (a, b) => latestFirst(a, b) > 0);

/**
 * Whether of two with one e-mail or phone `a` is the one that is written (contract 4.3): one with an external ID before
 * one without, then the latest updated.
 */
export const isPreferred = (a: Profile, b: Profile): boolean => {
  const isKnown = a.externalId !== null;
  return isKnown === (b.externalId !== null) ? latestFirst(a, b) < 0 : isKnown;
};

export const preferred = (profiles: readonly Profile[]): Profile | null => best(profiles, isPreferred);

/** The profile of an object about an unknown user, where contract 4.2 says that there is to be one. */
export const createUser = (users: UserSet, identity: Identity, nowMs: number): Profile | null => {
  const { lookup, updateExistingOnly } = identity;
  if (updateExistingOnly === true) return null;
  switch (lookup.by) {
    case 'external_id':
      return users.create({ externalId: lookup.value }, nowMs);
    case 'user_alias':
      return updateExistingOnly === false ? users.create({ aliases: [lookup.value] }, nowMs) : null;
    case 'email':
      return users.create({ email: lookup.value }, nowMs);
    case 'phone':
      return users.create({ phone: lookup.value }, nowMs);
    default:
      // IDs are ours to give: a profile for one that we never gave gets an ID of its own.
      return users.create({}, nowMs);
  }
};

/** E-mail and phone that stand beside the identifier become the profile's. */
export const writeContacts = (profile: Profile, { email, phone }: Identity): void => {
  if (email !== undefined) profile.email = email;
  if (phone !== undefined) profile.phone = phone;
};
