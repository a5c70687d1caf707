import type { Identity } from '../../protocol/schemas/index.ts';
import { addressKeys, isNamedBy, lookupKey } from '../profiles/lookup.ts';
import type { Profile } from '../profiles/profile.ts';
import type { UserRepository } from '../profiles/user-repository.ts';

/** Latest update first. Ties: latest creation first. */
const latestFirst = (a: Profile, b: Profile): number =>
  b.updatedAtMs - a.updatedAtMs || b.createdAtMs - a.createdAtMs || b.userId - a.userId;

/** One pass without sorting, because thousands of users may share an address, and each object of a request looks it up. */
const best = (profiles: readonly Profile[], isBetter: (a: Profile, b: Profile) => boolean): Profile | null =>
  profiles.reduce<Profile | null>((found, each) => (found && !isBetter(each, found) ? found : each), null);

export const findLatest = (profiles: readonly Profile[]): Profile | null =>
  best(profiles, (a, b) => latestFirst(a, b) < 0);
export const findEarliest = (profiles: readonly Profile[]): Profile | null =>
  best(profiles, (a, b) => latestFirst(a, b) > 0);

/**
 * Whether `a` is preferred to `b` with the same email or phone (contract 4.3): one with an external ID first, then the latest
 * update.
 */
const isPreferred = (a: Profile, b: Profile): boolean => {
  const isKnown = a.externalId !== null;
  return isKnown === (b.externalId !== null) ? latestFirst(a, b) < 0 : isKnown;
};

const preferred = (profiles: readonly Profile[]): Profile | null => best(profiles, isPreferred);

/** Creates the profile of an unknown user. Returns `null` if contract 4.2 creates none. */
export const createUser = (users: UserRepository, identity: Identity, nowMs: number): Profile | null => {
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
      // This `braze_id` was not issued here, so the new profile gets its own ID.
      return users.create({}, nowMs);
  }
};

/** Writes the email and phone sent next to the identifier. */
export const writeContacts = (profile: Profile, { email, phone }: Identity): void => {
  if (email !== undefined) profile.email = email;
  if (phone !== undefined) profile.phone = phone;
};

/**
 * Finds the users of one request's objects. Thousands may share an address that every object names, so they are compared once.
 * After that, only users changed by an object are compared.
 */
export const createUserFinder = (users: UserRepository, nowMs: number) => {
  /** Preferred profile of each shared address. */
  const known = new Map<string, Profile>();

  return {
    /** Returns the user. If several share an email or phone, the one that is written (contract 4.3). */
    find({ lookup }: Identity): Profile | null {
      const key = lookup.by === 'email' || lookup.by === 'phone' ? lookupKey(lookup) : null;
      const before = key === null ? undefined : known.get(key);
      // An object may have changed its address since.
      if (before && isNamedBy(before, lookup)) return before;

      const found = users.find(lookup);
      if (found.length < 2) return found[0] ?? null;
      const profile = preferred(found);
      if (key !== null && profile) known.set(key, profile);
      return profile;
    },

    /** Call after each change of a profile. It may be the preferred one now. */
    changed(profile: Profile) {
      users.changed(profile, nowMs);
      if (known.size === 0) return;
      for (const key of addressKeys(profile)) {
        const before = known.get(key);
        if (before && isPreferred(profile, before)) known.set(key, profile);
      }
    },
  };
};

export type UserFinder = ReturnType<typeof createUserFinder>;
