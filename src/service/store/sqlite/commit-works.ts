import type { UserIds } from '../../profiles/user-id.ts';
import { applyWorks, type Work } from '../apply-works.ts';
import type { Committer } from './commit.ts';
import type { Reader } from './reader.ts';
import { rowsOf } from './rows.ts';

/** Applies the works of a group to the users that they name, and commits what has changed. One group at a time. */
export const createCommitWorks =
  (reader: Reader, committer: Committer, ids: UserIds) =>
  async (works: readonly Work[]): Promise<unknown[]> => {
    const { changes, values } = applyWorks(works, reader.users(works), ids);
    await committer.commit(rowsOf(changes));
    return values;
  };
