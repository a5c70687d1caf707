import { getHeapStatistics } from 'node:v8';
import { createUserGroup, type UserGroup } from '../../profiles/user-group.ts';
import type { UserIds } from '../../profiles/user-id.ts';
import { applyWorks, namedBy, type Work } from '../works.ts';
import type { Committer } from './commit.ts';
import type { Reader } from './reader.ts';
import { type WriteSet, writeSetOf } from './writer.ts';

/** Of what is in memory, as JSON. The objects that it is take a few times as much. */
const MAX_CHARACTERS = Math.floor(getHeapStatistics().heap_size_limit / 64);

type Applied = { writes: WriteSet; values: unknown[] } | { failure: unknown };

/** A group on its way: the memory that it was applied with, and its end. */
interface Turn {
  memory: UserGroup | null;
  end: Promise<unknown>;
}

/**
 * Applies the works of a group to the users that they name, and commits what has changed. This process alone writes the file,
 * so users who were read or written stay in memory: reading them again for each group takes a quarter of the service's time.
 * A group is applied while the one before is being written, and written once that one is stored. A failure empties the
 * memory, and what was applied with it is applied again.
 */
export const createGroupWriter = (
  reader: Reader,
  committer: Committer,
  ids: UserIds,
  maxCharacters = MAX_CHARACTERS,
) => {
  let memory = createUserGroup(ids);
  let last: Turn = { memory, end: Promise.resolve() };

  /** A failure is kept, and thrown later: before that the memory may have to be rebuilt. */
  const applyGroup = (works: readonly Work[], turn: Turn): Applied => {
    turn.memory = memory;
    try {
      const named = namedBy(works, memory.knows);
      memory.add(reader.users(named), named.values());
      const values = applyWorks(works, memory);
      const writes = writeSetOf(
        memory.changes(),
        works.flatMap(({ also = [] }) => also),
      );
      memory.sent();
      return { writes, values };
    } catch (failure) {
      return { failure };
    }
  };

  const writeGroup = async (works: readonly Work[], before: Turn, mine: Turn): Promise<unknown[]> => {
    try {
      // Not while the previous group must itself be applied again.
      let applied = before.memory === memory ? applyGroup(works, mine) : null;
      await before.end;
      if (!applied || mine.memory !== memory) applied = applyGroup(works, mine);
      if ('failure' in applied) throw applied.failure;
      const { writes, values } = applied;
      await committer.write(writes);
      // Nothing stays of users who were erased.
      if (writes.forgotten.length > 0 || memory.characters() > maxCharacters) memory = createUserGroup(ids);
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
    const values = writeGroup(works, before, mine);
    mine.end = values.catch(() => undefined);
    return values;
  };
};
