import type { UserGroup } from '../profiles/user-group.ts';
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
