import type { Identity } from '../../protocol/schemas/index.ts';
import { matchesLookup, toAddressIdentifiers, toIdentifier } from '../profiles/lookup.ts';
import type { Profile } from '../profiles/profile.ts';
import type { UserRepository } from '../profiles/user-repository.ts';

/** Compares profiles by latest update, then by latest creation. */
const latestFirst = (a: Profile, b: Profile): number =>
  b.updatedAtMs - a.updatedAtMs || b.createdAtMs - a.createdAtMs || b.userId - a.userId;

/**
 * Returns the best profile in one pass without sorting, because thousands of users may share an address that each object of a
 * request looks up.
 */
const best = (profiles: readonly Profile[], isBetter: (a: Profile, b: Profile) => boolean): Profile | null =>
  profiles.reduce<Profile | null>((found, each) => (found && !isBetter(each, found) ? found : each), null);

export const findLatest = (profiles: readonly Profile[]): Profile | null =>
  best(profiles, (a, b) => latestFirst(a, b) < 0);
export const findEarliest = (profiles: readonly Profile[]): Profile | null =>
  best(profiles, (a, b) => latestFirst(a, b) > 0);

/**
 * Whether `a` is preferred to `b` with the same email or phone (contract 4.3). Prefers a profile with an external ID, then the
 * latest update.
 */
const isPreferred = (a: Profile, b: Profile): boolean => {
  const isKnown = a.externalId !== null;
  return isKnown === (b.externalId !== null) ? latestFirst(a, b) < 0 : isKnown;
};

const preferred = (profiles: readonly Profile[]): Profile | null => best(profiles, isPreferred);

/** Creates the profile of an unknown user. Returns `null` if contract 4.2 does not create a profile. */
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
      // This service did not issue the `braze_id`, so the new profile gets its own ID.
      return users.create({}, nowMs);
  }
};

/** Writes the email and phone of the object that contains the identifier. */
export const writeContacts = (profile: Profile, { email, phone }: Identity): void => {
  if (email !== undefined) profile.email = email;
  if (phone !== undefined) profile.phone = phone;
};

/**
 * Creates a finder of the users of one request's objects. Thousands of users may share an address that every object names, so the
 * finder compares all users only once. After that, it compares only users that an object has changed.
 */
export const createUserFinder = (users: UserRepository, nowMs: number) => {
  /** Preferred profile of each shared address. */
  const known = new Map<string, Profile>();

  return {
    /** Returns the user of an identity. If several users share an email or phone, returns the user to write (contract 4.3). */
    find({ lookup }: Identity): Profile | null {
      const identifier = lookup.by === 'email' || lookup.by === 'phone' ? toIdentifier(lookup) : null;
      const before = identifier === null ? undefined : known.get(identifier);
      // An object may have changed the address of the profile in the meantime.
      if (before && matchesLookup(before, lookup)) return before;

      const found = users.find(lookup);
      if (found.length < 2) return found[0] ?? null;
      const profile = preferred(found);
      if (identifier !== null && profile) known.set(identifier, profile);
      return profile;
    },

    /** Marks a profile as changed. Call it after each change, because the profile may have become the preferred one. */
    changed(profile: Profile) {
      users.changed(profile, nowMs);
      if (known.size === 0) return;
      for (const identifier of toAddressIdentifiers(profile)) {
        const before = known.get(identifier);
        if (before && isPreferred(profile, before)) known.set(identifier, profile);
      }
    },
  };
};

export type UserFinder = ReturnType<typeof createUserFinder>;
