import type { Profile } from '../../users/profile.ts';

/** Profiles that a replica remembers between transactions. */
const MAX_PROFILES = 50_000;

/**
 * Remembers profiles with the version of their row. Whoever holds the row's lock and sees the same version need not
 * read the profile again; any other version was written by another replica.
 */
export const createProfileCache = () => {
  const known = new Map<string, { profile: Profile; version: number }>();
  return {
    /** The profile where its version is this one. It is the caller's alone then, to change as it likes. */
    take(brazeId: string, version: number): Profile | undefined {
      const entry = known.get(brazeId);
      if (!entry) return undefined;
      known.delete(brazeId);
      return entry.version === version ? entry.profile : undefined;
    },
    /** Once the version is committed. Transactions may end in another order than their answers come. */
    put(profile: Profile, version: number): void {
      const entry = known.get(profile.brazeId);
      if (entry && entry.version > version) return;
      known.set(profile.brazeId, { profile, version });
      if (known.size > MAX_PROFILES) known.delete(known.keys().next().value!);
    },
  };
};

export type ProfileCache = ReturnType<typeof createProfileCache>;
