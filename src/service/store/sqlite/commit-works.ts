import type { UserIds } from '../../profiles/user-id.ts';
import { applyWorks, type Work } from '../apply-works.ts';
import type { Committer } from './commit.ts';
import type { Reader } from './reader.ts';
import { rowsOf } from './rows.ts';
import type { UserCache } from './user-cache.ts';

export interface CommitWorksOptions {
  reader: Reader;
  committer: Committer;
  cache: UserCache;
  ids: UserIds;
}

/** Applies the works of a group to the users that they name, and commits what has changed. One group at a time. */
export const createCommitWorks =
  ({ reader, committer, cache, ids }: CommitWorksOptions) =>
  async (works: readonly Work[]): Promise<unknown[]> => {
    try {
      const { changes, values } = applyWorks(works, reader.users(works, cache), ids);
      await committer.commit(rowsOf(changes));
      cache.committed(changes);
      return values;
    } catch (error) {
      // What the works did to the profiles in it is not stored.
      cache.clear();
      throw error;
    }
  };
