import { type DistinctLookup, type Lookup, toIdentifier, type UserIds } from './lookup.ts';
import type { ChangeSet, UserRepository, UserRow } from './user-repository.ts';
import { createUserWorkingSet, isNewer } from './user-working-set.ts';

/**
 * Creates a cache of users in two generations. A lookup moves its users to the young generation. When the young generation
 * reaches half of the maximum size, it replaces the old generation, so that users who are written often stay.
 */
export const createUserGenerations = (ids: UserIds, maxCharacters: number) => {
  let young = createUserWorkingSet(ids);
  let old: typeof young | null = null;

  const getRow = (workspaceId: string, userId: number): UserRow | null | undefined => {
    const row = young.getRow(workspaceId, userId);
    return row === undefined ? old?.getRow(workspaceId, userId) : row;
  };

  const forget = (workspaceId: string, userId: number) => {
    for (const each of [young, old]) each?.forget(workspaceId, userId);
  };

  return {
    forget,

    /** Returns a cached user; `null` if removed, `undefined` if not cached. */
    getRow,

    /** Starts a new generation if the young one is full. Call it before `isCached` of a group. */
    rotate(): void {
      if (young.characters() <= maxCharacters / 2) return;
      old = young;
      young = createUserWorkingSet(ids);
    },

    /** Whether all users of a lookup are cached. Moves them to the young generation. */
    isCached(workspaceId: string, lookup: Lookup): boolean {
      if (young.isCached(workspaceId, lookup)) return true;
      if (!old?.isCached(workspaceId, lookup)) return false;
      // Does not replace users of the young generation, which are newer.
      const loadedLookups = [{ workspaceId, identifier: toIdentifier(lookup), lookup }];
      young.add({ users: old.getRows(workspaceId, lookup), loadedLookups });
      // `false` if the user has other identifiers in the young generation.
      return young.isCached(workspaceId, lookup);
    },

    /**
     * Adds users of the database. Prefers cached users unless they are older, because the database may lack the changes of the group
     * in flight.
     */
    add(users: Iterable<UserRow>): void {
      const newest = [...users].flatMap((row) => {
        const cached = getRow(row.workspaceId, row.userId);
        return cached === undefined || isNewer(row, cached) ? [row] : (cached ?? []);
      });
      young.add({ users: newest });
    },

    /** Returns the cached users of a lookup whose users have been added. */
    getRows: (workspaceId: string, lookup: Lookup): UserRow[] => young.getRows(workspaceId, lookup),

    /** Removes cached users of lookups unless `isCurrent`, because another replica has removed them or their identifiers. */
    forgetOthers(distinctLookups: Iterable<DistinctLookup>, isCurrent: (userId: number) => boolean): void {
      for (const { workspaceId, lookup } of distinctLookups)
        for (const set of [young, old])
          for (const { userId } of set?.getRows(workspaceId, lookup) ?? [])
            if (!isCurrent(userId)) forget(workspaceId, userId);
    },

    /** Applies mutations, like `change` of a working set. All users of the lookups must be added before. */
    change<T>(
      loadedLookups: Iterable<DistinctLookup>,
      apply: (getUsers: (workspaceId: string) => UserRepository) => T,
    ): { value: T; changes: ChangeSet } {
      const all = [...loadedLookups];
      const users = all.flatMap(({ workspaceId, lookup }) => old?.getRows(workspaceId, lookup) ?? []);
      return young.change({ users, loadedLookups: all }, apply);
    },
  };
};

export type UserGenerations = ReturnType<typeof createUserGenerations>;
