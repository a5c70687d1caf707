import type { Profile } from '../../users/profile.ts';

/** Profiles that a replica remembers between transactions, and the characters of their texts in all. */
const MAX_PROFILES = 50_000;
const MAX_CHARACTERS = 64 * 1024 * 1024;

/**
 * Remembers profiles with the version of their row. Whoever holds the row's lock and sees the same version need not
 * read the profile again; any other version was written by another replica.
 */
export const createProfileCache = () => {
  const known = new Map<string, { profile: Profile; version: number; characters: number }>();
  let total = 0;

  const drop = (brazeId: string) => {
    const entry = known.get(brazeId);
    if (!entry) return undefined;
    known.delete(brazeId);
    total -= entry.characters;
    return entry;
  };

  return {
    /** The profile where its version is this one. It is the caller's alone then, to change as it likes. */
    take(brazeId: string, version: number): Profile | undefined {
      const entry = drop(brazeId);
      return entry?.version === version ? entry.profile : undefined;
    },
    /** Once the version is committed. Transactions may end in another order than their answers come. */
    put(profile: Profile, version: number, characters: number): void {
      const { brazeId } = profile;
      if ((known.get(brazeId)?.version ?? 0) > version) return;
      drop(brazeId);
      known.set(brazeId, { profile, version, characters });
      total += characters;
      while (known.size > MAX_PROFILES || total > MAX_CHARACTERS) drop(known.keys().next().value!);
    },
  };
};
