import type { UserGroup } from '../profiles/user-group.ts';
import { lookupKey } from '../profiles/user-key.ts';
import type { Lookup } from '../profiles/user-set.ts';
import type { UserWork } from './store.ts';

export type Work = UserWork<unknown>;

/** Works of a group cannot be stored: their `apply` threw, or another transaction keeps their users locked. */
export class WorkError extends Error {
  override name = 'WorkError';
  readonly works: readonly Work[];

  constructor(works: readonly Work[], cause: unknown) {
    super('Works of the group cannot be stored', { cause });
    this.works = works;
  }
}

/** Applies works to the users in memory, one after the other, and answers what each returned. */
export const applyWorks = (works: readonly Work[], group: UserGroup): unknown[] =>
  works.map((work) => {
    try {
      return work.apply(group.users(work.workspaceId));
    } catch (error) {
      // It may have changed users halfway: the group begins anew without it.
      throw new WorkError([work], error);
    }
  });

/** What works name users by: lookups by workspace and key, each once. */
export type Named = Map<string, { workspaceId: string; key: string; lookup: Lookup }>;

export const nameOf = (workspaceId: string, key: string) => `${workspaceId} ${key}`;

/** Without the lookups that `isKnown` knows. */
export const namedBy = (
  works: Iterable<Pick<Work, 'workspaceId' | 'lookups'>>,
  isKnown: (workspaceId: string, lookup: Lookup) => boolean = () => false,
): Named => {
  const named: Named = new Map();
  for (const { workspaceId, lookups } of works) {
    for (const lookup of lookups) {
      if (isKnown(workspaceId, lookup)) continue;
      const key = lookupKey(lookup);
      const name = nameOf(workspaceId, key);
      if (!named.has(name)) named.set(name, { workspaceId, key, lookup });
    }
  }
  return named;
};
