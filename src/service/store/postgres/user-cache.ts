import type { UserRow } from '../../profiles/changes.ts';

/** What a user takes beside the profile is as much memory as so many characters of one. */
const USER_CHARACTERS = 200;

/**
 * Users as a replica read or wrote them last. Other replicas write them too: a row counts as known where its version and its time
 * are those of the database, which sends nothing more of it then. A group takes out whom it reads, as it changes them, and puts
 * them back once it is stored.
 */
export const createUserCache = (maxCharacters: number) => {
  const known = new Map<number, UserRow>();
  let characters = 0;

  return {
    /** The version and the time of a user; numbers that no row has where the user is not known. */
    stateOf(userId: number): { version: number; updatedAtMs: number } {
      const user = known.get(userId);
      if (!user) return { version: -1, updatedAtMs: 0 };
      return { version: user.version, updatedAtMs: user.profile?.updatedAtMs ?? user.seenAtMs };
    },

    take(userId: number): UserRow | undefined {
      const user = known.get(userId);
      if (user) characters -= USER_CHARACTERS + user.characters;
      known.delete(userId);
      return user;
    },

    put(users: Iterable<UserRow>) {
      for (const user of users) {
        known.set(user.userId, user);
        characters += USER_CHARACTERS + user.characters;
      }
      if (characters <= maxCharacters) return;
      known.clear();
      characters = 0;
    },
  };
};

export type UserCache = ReturnType<typeof createUserCache>;
