import { type DistinctLookup, type Lookup, toIdentifier, type UserIds } from './lookup.ts';
import type { ChangeSet, UserRepository, UserRow } from './user-repository.ts';
import { createUserWorkingSet } from './user-working-set.ts';

/**
 * Creates a cache of users in two generations. A lookup moves its users to the young generation. When the young generation
 * reaches half of the maximum size, it replaces the old generation, so that users who are written often stay.
 */
export const createUserGenerations = (ids: UserIds, maxCharacters: number) => {
  let young = createUserWorkingSet(ids);
  let old: typeof young | null = null;

  return {
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
      return true;
    },

    /** Adds users of the database. Prefers cached users, because the database may lack the changes of the group in flight. */
    add(users: Iterable<UserRow>): void {
      const newest = [...users].flatMap((row) => {
        const known = old?.getRow(row.workspaceId, row.userId);
        return known === undefined ? [row] : (known ?? []);
      });
      young.add({ users: newest });
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
