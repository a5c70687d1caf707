import { type Lookup, lookupKey, type UserIds } from './lookup.ts';
import type { ChangeSet, UserRepository } from './user-repository.ts';
import { createUserWorkingSet, type FoundUsers } from './user-working-set.ts';

/**
 * Cached users in two generations. A user who is named moves to the young one. When that has half of the maximum size, the old one
 * is dropped, and the young one becomes old: users who are written often stay.
 */
export const createUserGenerations = (ids: UserIds, maxCharacters: number) => {
  let young = createUserWorkingSet(ids);
  let old: typeof young | null = null;

  return {
    /** Starts a new generation if the young one is full. Must precede `knows` of a group. */
    age(): void {
      if (young.characters() <= maxCharacters / 2) return;
      old = young;
      young = createUserWorkingSet(ids);
    },

    /** Whether all users of a lookup are cached. Moves them to the young generation. */
    knows(workspaceId: string, lookup: Lookup): boolean {
      if (young.knows(workspaceId, lookup)) return true;
      if (!old?.knows(workspaceId, lookup)) return false;
      // Users that the young generation has are newer there.
      const named = [{ workspaceId, key: lookupKey(lookup), lookup }];
      young.add({ users: old.rowsOf(workspaceId, lookup), named });
      return true;
    },

    /** Like `change` of a working set. */
    change<T>(
      { users, named = [] }: FoundUsers,
      apply: (getUsers: (workspaceId: string) => UserRepository) => T,
    ): { value: T; changes: ChangeSet } {
      // The database may lack changes of the group in flight, which the old generation has.
      const newest = [...users].flatMap((row) => {
        const known = old?.rowOf(row.workspaceId, row.userId);
        return known === undefined ? [row] : (known ?? []);
      });
      const all = [...named];
      const more = all.flatMap(({ workspaceId, lookup }) => old?.rowsOf(workspaceId, lookup) ?? []);
      return young.change({ users: [...newest, ...more], named: all }, apply);
    },
  };
};

export type UserGenerations = ReturnType<typeof createUserGenerations>;
