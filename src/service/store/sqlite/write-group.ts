import { namedBy, type UserIds } from '../../profiles/lookup.ts';
import { createUserMemory, MAX_CHARACTERS, type UserMemory } from '../../profiles/user-memory.ts';
import { applyWorks, type Work } from '../commit-queue.ts';
import { type GroupWrites, groupWrites } from '../group-writes.ts';
import type { Reader } from './reader.ts';
import type { RemoteWriter } from './start-writer.ts';
import { TABLES } from './writer.ts';

/** `forgets` is whether users are deleted on request: then no copy of them stays in memory. */
type Applied = { writes: GroupWrites; forgets: boolean; values: unknown[] } | { failure: unknown };

/** A group on its way: the memory that it was applied with, and its end. */
interface GroupUnderWay {
  memory: UserMemory | null;
  end: Promise<unknown>;
}

/**
 * Applies the works of a group to the users that they name, and commits what has changed. This process alone writes the file,
 * so users who were read or written stay in memory: reading them again for each group takes a quarter of the service's time.
 * A group is applied while the one before is being written, and written once that one is stored. A failure empties the
 * memory, and what was applied with it is applied again.
 */
export const createSqliteGroups = (
  reader: Reader,
  writer: RemoteWriter,
  ids: UserIds,
  maxCharacters = MAX_CHARACTERS,
) => {
  let memory = createUserMemory(ids);
  let last: GroupUnderWay = { memory, end: Promise.resolve() };

  /** A failure is kept, and thrown later: before that the memory may have to be rebuilt. */
  const applyGroup = (works: readonly Work[], turn: GroupUnderWay): Applied => {
    turn.memory = memory;
    try {
      const named = namedBy(works, memory.knows);
      const { value: values, changes } = memory.change(
        { users: reader.users(named), named: named.values() },
        (usersOf) => applyWorks(works, usersOf),
      );
      const also = works.flatMap((work) => work.also ?? []);
      return { writes: groupWrites(TABLES, changes, also), forgets: changes.forgotten.length > 0, values };
    } catch (failure) {
      return { failure };
    }
  };

  const writeGroup = async (
    works: readonly Work[],
    before: GroupUnderWay,
    mine: GroupUnderWay,
  ): Promise<unknown[]> => {
    try {
      // Not while the previous group must itself be applied again.
      let applied = before.memory === memory ? applyGroup(works, mine) : null;
      await before.end;
      if (!applied || mine.memory !== memory) applied = applyGroup(works, mine);
      if ('failure' in applied) throw applied.failure;
      const { writes, forgets, values } = applied;
      await writer.write(writes);
      // Nothing stays of users who were erased.
      if (forgets || memory.characters() > maxCharacters) memory = createUserMemory(ids);
      return values;
    } catch (error) {
      memory = createUserMemory(ids);
      throw error;
    }
  };

  return (works: readonly Work[]): Promise<unknown[]> => {
    const before = last;
    const mine: GroupUnderWay = { memory: null, end: Promise.resolve() };
    last = mine;
    const values = writeGroup(works, before, mine);
    mine.end = values.catch(() => undefined);
    return values;
  };
};
