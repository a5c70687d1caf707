import { getHeapStatistics } from 'node:v8';
import { createUserGroup, type UserGroup } from '../../profiles/user-group.ts';
import type { UserIds } from '../../profiles/user-id.ts';
import { applyWorks, type Work } from '../apply-works.ts';
import { namedBy } from '../named-users.ts';
import type { Committer } from './commit.ts';
import type { Reader } from './reader.ts';
import { type Rows, rowsOf } from './rows.ts';

/** Of what is in memory, as JSON. The objects that it is take a few times as much. */
const MAX_CHARACTERS = Math.floor(getHeapStatistics().heap_size_limit / 64);

type Prepared = { rows: Rows; values: unknown[] } | { failure: unknown };

/** A group on its way: the memory that it was prepared with, and its end. */
interface Turn {
  memory: UserGroup | null;
  end: Promise<unknown>;
}

/**
 * Applies the works of a group to the users that they name, and commits what has changed. This process alone writes the file,
 * so users who were read or written stay in memory: reading them again for each group takes a quarter of the service's time.
 * A group is prepared while the one before is being written, and written once that one is stored. A failure empties the
 * memory, and what was prepared with it is prepared again.
 */
export const createCommitWorks = (
  reader: Reader,
  committer: Committer,
  ids: UserIds,
  maxCharacters = MAX_CHARACTERS,
) => {
  let memory = createUserGroup(ids);
  let last: Turn = { memory, end: Promise.resolve() };

  /** A failure is kept, and thrown later: before that the memory may have to be rebuilt. */
  const prepare = (works: readonly Work[], turn: Turn): Prepared => {
    turn.memory = memory;
    try {
      const named = namedBy(works, memory.knows);
      memory.add(reader.users(named), named.values());
      const values = applyWorks(works, memory);
      const rows = rowsOf(memory.changes());
      rows.also.push(...works.flatMap(({ also = [] }) => also));
      memory.sent();
      return { rows, values };
    } catch (failure) {
      return { failure };
    }
  };

  const commit = async (works: readonly Work[], before: Turn, mine: Turn): Promise<unknown[]> => {
    try {
      // Not while the previous group must itself be prepared again.
      let prepared = before.memory === memory ? prepare(works, mine) : null;
      await before.end;
      if (!prepared || mine.memory !== memory) prepared = prepare(works, mine);
      if ('failure' in prepared) throw prepared.failure;
      const { rows, values } = prepared;
      await committer.commit(rows);
      // Nothing stays of users who were erased.
      if (rows.forgotten.length > 0 || memory.characters() > maxCharacters) memory = createUserGroup(ids);
      return values;
    } catch (error) {
      memory = createUserGroup(ids);
      throw error;
    }
  };

  return (works: readonly Work[]): Promise<unknown[]> => {
    const before = last;
    const mine: Turn = { memory: null, end: Promise.resolve() };
    last = mine;
    const values = commit(works, before, mine);
    mine.end = values.catch(() => undefined);
    return values;
  };
};
