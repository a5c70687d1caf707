import type { Identity } from '../../protocol/index.ts';
import type { Profile } from '../profiles/profile.ts';
import { addressKeys, isNamedBy, lookupKey } from '../profiles/user-key.ts';
import type { UserSet } from '../profiles/user-set.ts';
import { isPreferred, preferred } from './resolve.ts';

/**
 * Finds whom the objects of one request are about. Thousands may share an address that every object names: they are
 * compared once, and from then on only those whom an object has changed.
 */
export const createUserFinder = (users: UserSet) => {
  /** Of each address that several share, who is preferred, as of those that were changed since. */
  const known = new Map<string, Profile>();

  return {
    /** Of several profiles with one e-mail or phone, the one that is written (contract 4.3). */
    find({ lookup }: Identity): Profile | null {
      const key = lookup.by === 'email' || lookup.by === 'phone' ? lookupKey(lookup) : null;
      const before = key === null ? undefined : known.get(key);
      // It may have got another address in between.
      if (before && isNamedBy(before, lookup)) return before;

      const found = users.find(lookup);
      if (found.length < 2) return found[0] ?? null;
      const profile = preferred(found);
      if (key !== null && profile) known.set(key, profile);
      return profile;
    },

    /** To be called after each change of a profile: it may be preferred now. */
    changed(profile: Profile) {
      if (known.size === 0) return;
      for (const key of addressKeys(profile)) {
        const before = known.get(key);
        if (before && isPreferred(profile, before)) known.set(key, profile);
      }
    },
  };
};

export type UserFinder = ReturnType<typeof createUserFinder>;
