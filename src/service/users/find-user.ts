import type { Identity } from '../../protocol/schemas/index.ts';
import { addressKeys, isNamedBy, lookupKey } from '../profiles/lookup.ts';
import type { Profile } from '../profiles/profile.ts';
import type { UserRepository } from '../profiles/user-repository.ts';

/** Negative when `a` was updated later; of two updated at once, when it was created later. */
const latestFirst = (a: Profile, b: Profile): number =>
  b.updatedAtMs - a.updatedAtMs || b.createdAtMs - a.createdAtMs || b.userId - a.userId;

/** One pass, without sorting: thousands may share an address, and each object of a request asks anew. */
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
const isPreferred = (a: Profile, b: Profile): boolean => {
  const isKnown = a.externalId !== null;
  return isKnown === (b.externalId !== null) ? latestFirst(a, b) < 0 : isKnown;
};

const preferred = (profiles: readonly Profile[]): Profile | null => best(profiles, isPreferred);

/** Creates the profile for an object about an unknown user. `null` where contract 4.2 makes no profile. */
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
      // We never gave this `braze_id`, so the new profile gets an ID of its own.
      return users.create({}, nowMs);
  }
};

/** Writes the e-mail and the phone that an object has beside its identifier. */
export const writeContacts = (profile: Profile, { email, phone }: Identity): void => {
  if (email !== undefined) profile.email = email;
  if (phone !== undefined) profile.phone = phone;
};

/**
 * Finds whom the objects of one request are about. Thousands may share an address that every object names: they are
 * compared once, and from then on only those whom an object has changed.
 */
export const createUserFinder = (users: UserRepository, nowMs: number) => {
  /** The preferred profile of each address that several profiles share. */
  const known = new Map<string, Profile>();

  return {
    /** Of several profiles with one e-mail or phone, the one that is written (contract 4.3). */
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

    /** To be called after each change of a profile: it is written, and may be the preferred one now. */
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
