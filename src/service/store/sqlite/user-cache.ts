import type { Changes, UserRow } from '../changes.ts';

/** Users in each of two generations, and the characters of their profiles as JSON. */
const MAX_USERS = 50_000;
const MAX_CHARACTERS = 32 * 1024 * 1024;

/**
 * Users as the file has them, by external ID: to read and parse the profiles of busy users again would take a quarter of all
 * time. It is exact because one process owns the file: works change the profiles in here, and where their commit fails it is
 * emptied.
 */
export const createUserCache = ({ maxUsers = MAX_USERS, maxCharacters = MAX_CHARACTERS } = {}) => {
  let young = new Map<string, UserRow>();
  let old = new Map<string, UserRow>();
  let characters = 0;

  const nameOf = (workspaceId: string, externalId: string) => `${workspaceId} ${externalId}`;

  const clear = () => {
    young = new Map();
    old = new Map();
    characters = 0;
  };

  const put = (user: UserRow, version: number) => {
    const { userId, workspaceId, externalId, profile, createdAtMs, characters: length = 0 } = user;
    if (externalId === null || profile === null) return;
    const name = nameOf(workspaceId, externalId);
    characters += length - (young.get(name)?.characters ?? 0);
    young.set(name, { userId, workspaceId, externalId, profile, createdAtMs, version, characters: length });
    if (young.size < maxUsers && characters < maxCharacters) return;
    old = young;
    young = new Map();
    characters = 0;
  };

  return {
    clear,

    get(workspaceId: string, externalId: string): UserRow | undefined {
      const name = nameOf(workspaceId, externalId);
      const row = young.get(name) ?? old.get(name);
      return row?.profile?.externalId === externalId ? row : undefined;
    },

    /** To be called with a user who was read. */
    put: (user: UserRow) => put(user, user.version),

    /** To be called with what a group has changed, once it is committed. */
    committed({ updated, created, deleted }: Changes) {
      for (const { workspaceId, externalId } of deleted) {
        if (externalId === null) continue;
        young.delete(nameOf(workspaceId, externalId));
        old.delete(nameOf(workspaceId, externalId));
      }
      for (const user of updated) put(user, user.version + 1);
      for (const user of created) put(user, user.version + 1);
    },
  };
};

export type UserCache = ReturnType<typeof createUserCache>;
