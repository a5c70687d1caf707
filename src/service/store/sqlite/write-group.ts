import { namedBy, type UserIds } from '../../profiles/lookup.ts';
import {
  createUserWorkingSet,
  MAX_CHARACTERS,
  type UserWorkingSet,
} from '../../profiles/user-working-set.ts';
import { applyMutations, type Mutation } from '../commit-queue.ts';
import { type GroupWrites, groupWrites } from '../group-writes.ts';
import { SQLITE_STATEMENTS } from '../statements.ts';
import type { Reader } from './reader.ts';
import type { RemoteWriter } from './writer.ts';

/**
 * Works that were applied, with the memory that they have changed. `forgets` is whether users are deleted on request: then no copy of
 * them stays in memory. A failure is thrown later: before that the memory may have to be rebuilt.
 */
type Applied = { memory: UserWorkingSet } & (
  | { writes: GroupWrites; forgets: boolean; values: unknown[] }
  | { failure: unknown }
);

/** A group on its way. */
interface GroupUnderWay {
  /** With which it is applied; `null` until it is. */
  memory: UserWorkingSet | null;
  end: Promise<unknown>;
}

/**
 * Applies the mutations of a group to the users that they name, and commits what has changed. This process alone writes the file,
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
  let memory = createUserWorkingSet(ids);
  let last: GroupUnderWay = { memory, end: Promise.resolve() };

  const applyGroup = (mutations: readonly Mutation[]): Applied => {
    try {
      const named = namedBy(mutations, memory.knows);
      const { value: values, changes } = memory.change(
        { users: reader.users(named), named: named.values() },
        (usersOf) => applyMutations(mutations, usersOf),
      );
      const also = mutations.flatMap((mutation) => mutation.also ?? []);
      const writes = groupWrites(SQLITE_STATEMENTS, changes, also);
      return { memory, writes, forgets: changes.forgotten.length + changes.removed.length > 0, values };
    } catch (failure) {
      return { memory, failure };
    }
  };

  const writeGroup = async (
    mutations: readonly Mutation[],
    before: GroupUnderWay,
    mine: GroupUnderWay,
  ): Promise<unknown[]> => {
    try {
      // Not while the previous group must itself be applied again.
      let applied = before.memory === memory ? applyGroup(mutations) : null;
      mine.memory = applied?.memory ?? null;
      await before.end;
      if (applied?.memory !== memory) applied = applyGroup(mutations);
      mine.memory = applied.memory;
      if ('failure' in applied) throw applied.failure;
      const { writes, forgets, values } = applied;
      await writer.write(writes);
      // Nothing stays of users who were erased.
      if (forgets || memory.characters() > maxCharacters) memory = createUserWorkingSet(ids);
      return values;
    } catch (error) {
      memory = createUserWorkingSet(ids);
      throw error;
    }
  };

  return (mutations: readonly Mutation[]): Promise<unknown[]> => {
    const before = last;
    const mine: GroupUnderWay = { memory: null, end: Promise.resolve() };
    last = mine;
    const values = writeGroup(mutations, before, mine);
    mine.end = values.catch(() => undefined);
    return values;
  };
};
