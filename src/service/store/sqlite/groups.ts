import { collectLookups, type UserIds } from '../../profiles/lookup.ts';
import { createUserGenerations, type UserGenerations } from '../../profiles/user-generations.ts';
import { MAX_CHARACTERS } from '../../profiles/user-working-set.ts';
import { type GroupWrites, toGroupWrites } from '../commit-group.ts';
import { applyMutations, type Mutation } from '../commit-queue.ts';
import { SQLITE_STATEMENTS } from '../statements.ts';
import type { Reader } from './reader.ts';
import type { RemoteWriter } from './writer.ts';

/**
 * Applied mutations, with the users in memory that they changed. `clearsCache` is true if users are erased, so that no copy of them
 * may stay in memory. A failure is thrown later, because the users may have to be read again first.
 */
type Applied = { memory: UserGenerations } & (
  | { writes: GroupWrites; clearsCache: boolean; values: unknown[] }
  | { failure: unknown }
);

/** A group in flight. */
interface GroupUnderWay {
  /** Users that the group was applied to; `null` until then. */
  memory: UserGenerations | null;
  end: Promise<unknown>;
}

/**
 * Applies the mutations of a group to their users, and commits the changes. Only this process writes the file, so users stay
 * cached after a read or write. Reading them again for each group would take a quarter of the service's time. Applies a group
 * during the commit of the previous group, and writes it after that commit. If a commit fails, empties the cache and applies
 * later groups again.
 */
export const createSqliteGroups = (
  reader: Reader,
  writer: RemoteWriter,
  ids: UserIds,
  maxCharacters = MAX_CHARACTERS,
) => {
  const createMemory = () => createUserGenerations(ids, maxCharacters);
  let memory = createMemory();
  let latest: GroupUnderWay = { memory, end: Promise.resolve() };

  const applyGroup = (mutations: readonly Mutation[]): Applied => {
    try {
      memory.rotate();
      const distinctLookups = collectLookups(mutations, memory.isCached);
      const { value: values, changes } = memory.change(
        { users: reader.users(distinctLookups), distinctLookups: distinctLookups.values() },
        (getUsers) => applyMutations(mutations, getUsers),
      );
      const extraStatements = mutations.flatMap((mutation) => mutation.extraStatements ?? []);
      const writes = toGroupWrites(SQLITE_STATEMENTS, changes, extraStatements);
      return {
        memory,
        writes,
        clearsCache: changes.auditRedactions.length + changes.removed.length > 0,
        values,
      };
    } catch (failure) {
      return { memory, failure };
    }
  };

  const writeGroup = async (
    mutations: readonly Mutation[],
    previous: GroupUnderWay,
    current: GroupUnderWay,
  ): Promise<unknown[]> => {
    try {
      // Skipped if the previous group must be applied again.
      let applied = previous.memory === memory ? applyGroup(mutations) : null;
      current.memory = applied?.memory ?? null;
      await previous.end;
      if (applied?.memory !== memory) applied = applyGroup(mutations);
      current.memory = applied.memory;
      if ('failure' in applied) throw applied.failure;
      const { writes, clearsCache, values } = applied;
      await writer.write(writes);
      // Erased users must not stay in memory.
      if (clearsCache) memory = createMemory();
      return values;
    } catch (error) {
      memory = createMemory();
      throw error;
    }
  };

  return (mutations: readonly Mutation[]): Promise<unknown[]> => {
    const previous = latest;
    const current: GroupUnderWay = { memory: null, end: Promise.resolve() };
    latest = current;
    const values = writeGroup(mutations, previous, current);
    current.end = values.catch(() => undefined);
    return values;
  };
};
