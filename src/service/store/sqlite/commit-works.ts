import { getHeapStatistics } from 'node:v8';
import { createUserGroup } from '../../profiles/user-group.ts';
import type { UserIds } from '../../profiles/user-id.ts';
import { applyWorks, type Work } from '../apply-works.ts';
import type { Committer } from './commit.ts';
import type { Reader } from './reader.ts';
import { rowsOf } from './rows.ts';

/** Of all profiles in memory, as JSON. The objects that they are take a few times as much. */
const MAX_CHARACTERS = Math.floor(getHeapStatistics().heap_size_limit / 64);

/**
 * Applies the works of a group to the users that they name, and commits what has changed. One group at a time. This process
 * alone writes the file, so users who were read or written stay in memory: reading them again for each group takes a quarter
 * of the service's time. After any failure they are read anew.
 */
export const createCommitWorks = (
  reader: Reader,
  committer: Committer,
  ids: UserIds,
  maxCharacters = MAX_CHARACTERS,
) => {
  let group = createUserGroup(ids);
  return async (works: readonly Work[]): Promise<unknown[]> => {
    try {
      group.add(reader.users(works, group.knows));
      const values = applyWorks(works, group);
      await committer.commit(rowsOf(group.changes()));
      group.stored();
      if (group.characters() > maxCharacters) group = createUserGroup(ids);
      return values;
    } catch (error) {
      group = createUserGroup(ids);
      throw error;
    }
  };
};
