import { collectLookups, type UserIds } from '../../profiles/lookup.ts';
import { createUserGenerations, type UserGenerations } from '../../profiles/user-generations.ts';
import { MAX_CHARACTERS } from '../../profiles/user-working-set.ts';
import { type GroupWrites, toGroupWrites } from '../commit-group.ts';
import { applyMutations, type Mutation } from '../commit-queue.ts';
import { SQLITE_STATEMENTS } from '../statements.ts';
import type { Reader } from './reader.ts';
import type { RemoteWriter } from './writer.ts';

/**
 * Applied mutations, with the users in memory that they changed. `clearsCache` is true if users are erased or expired, so that no
 * copy of them stays in memory. A failure is thrown later, because the users may have to be read again first.
 */
type Applied = { cachedUsers: UserGenerations } & (
  | { writes: GroupWrites; clearsCache: boolean; values: unknown[] }
  | { failure: unknown }
);

/** A group in flight. */
interface PendingGroup {
  /** Users that the group was applied to; `null` until then. */
  cachedUsers: UserGenerations | null;
  end: Promise<unknown>;
}

/**
 * Applies the mutations of a group to their users, and commits the changes. Only this process writes users, so they stay
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
  const createCache = () => createUserGenerations(ids, maxCharacters);
  let cachedUsers = createCache();
  let latest: PendingGroup = { cachedUsers, end: Promise.resolve() };

  /** Reads the users of a group, and applies the mutations to them. No other group is applied in the meantime. */
  const applyGroup = async (mutations: readonly Mutation[]): Promise<Applied> => {
    const users = cachedUsers;
    try {
      users.rotate();
      const distinctLookups = collectLookups(mutations, users.isCached);
      await reader.readGroup(distinctLookups, users.add);
      const { value: values, changes } = users.change(distinctLookups.values(), (getUsers) =>
        applyMutations(mutations, getUsers),
      );
      const extraStatements = mutations.flatMap((mutation) => mutation.extraStatements ?? []);
      const writes = toGroupWrites(SQLITE_STATEMENTS, changes, extraStatements);
      return {
        cachedUsers: users,
        writes,
        clearsCache: changes.auditRedactions.length + changes.erasedOrExpired.length > 0,
        values,
      };
    } catch (failure) {
      return { cachedUsers: users, failure };
    }
  };

  const writeGroup = async (
    mutations: readonly Mutation[],
    previous: PendingGroup,
    current: PendingGroup,
  ): Promise<unknown[]> => {
    try {
      // Skipped if the previous group must be applied again.
      let applied = previous.cachedUsers === cachedUsers ? await applyGroup(mutations) : null;
      current.cachedUsers = applied?.cachedUsers ?? null;
      await previous.end;
      if (applied?.cachedUsers !== cachedUsers) applied = await applyGroup(mutations);
      current.cachedUsers = applied.cachedUsers;
      if ('failure' in applied) throw applied.failure;
      const { writes, clearsCache, values } = applied;
      await writer.write(writes);
      // Erased users must not stay in memory.
      if (clearsCache) cachedUsers = createCache();
      return values;
    } catch (error) {
      cachedUsers = createCache();
      throw error;
    }
  };

  return (mutations: readonly Mutation[]): Promise<unknown[]> => {
    const previous = latest;
    const current: PendingGroup = { cachedUsers: null, end: Promise.resolve() };
    latest = current;
    const values = writeGroup(mutations, previous, current);
    current.end = values.catch(() => undefined);
    return values;
  };
};
