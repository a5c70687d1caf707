import { collectLookups, type UserIds } from '../../profiles/lookup.ts';
import { createUserGenerations, type UserGenerations } from '../../profiles/user-generations.ts';
import { hasErasures } from '../../profiles/user-repository.ts';
import { MAX_CHARACTERS } from '../../profiles/user-working-set.ts';
import { toGroupWrites } from '../commit-group.ts';
import { applyMutations, type Mutation } from '../commit-queue.ts';
import { SQLITE_STATEMENTS } from '../statements.ts';
import type { Reader } from './reader.ts';
import type { RemoteWriter } from './writer.ts';

/** A group in flight. */
interface PendingGroup {
  /** Users that the group was applied to; `null` until then, and if the next group has to wait for its end. */
  cachedUsers: UserGenerations | null;
  end: Promise<unknown>;
}

/**
 * Applies the mutations of a group to their users, and commits the changes. Only this process writes users, so they stay
 * cached after a read or write. Reading them again for each group would take a quarter of the service's time. Applies a group
 * and sends it to the writer during the commit of the previous group. If a commit fails, the writer skips the groups that were
 * applied to the same users. They are applied again to an empty cache.
 */
export const createSqliteGroups = (
  reader: Reader,
  writer: RemoteWriter,
  ids: UserIds,
  maxCharacters = MAX_CHARACTERS,
) => {
  let cacheNumber = 0;
  const createCache = () => {
    cacheNumber += 1;
    return createUserGenerations(ids, maxCharacters);
  };
  let cachedUsers = createCache();
  let latest: PendingGroup = { cachedUsers, end: Promise.resolve() };

  /** Reads the users of a group, and applies the mutations to them. No other group is applied in the meantime. */
  const applyGroup = async (mutations: readonly Mutation[], users: UserGenerations) => {
    users.rotate();
    const distinctLookups = collectLookups(mutations, users.isCached);
    await reader.readGroup(distinctLookups, users.add);
    const { value: values, changes } = users.change(distinctLookups.values(), (getUsers) =>
      applyMutations(mutations, getUsers),
    );
    const extraStatements = mutations.flatMap((mutation) => mutation.extraStatements ?? []);
    return {
      values,
      writes: toGroupWrites(SQLITE_STATEMENTS, changes, extraStatements),
      // Erased users must not stay in memory.
      clearsCache: hasErasures(changes),
    };
  };

  const writeGroup = async (
    mutations: readonly Mutation[],
    previous: PendingGroup,
    current: PendingGroup,
  ): Promise<unknown[]> => {
    try {
      for (;;) {
        if (previous.cachedUsers !== cachedUsers) await previous.end;
        const [users, number] = [cachedUsers, cacheNumber];
        const { values, writes, clearsCache } = await applyGroup(mutations, users);
        if (users !== cachedUsers) continue;
        current.cachedUsers = clearsCache ? null : users;
        const isWritten = await writer.write(writes, number);
        if (!isWritten) continue;
        if (clearsCache) cachedUsers = createCache();
        return values;
      }
    } catch (error) {
      // The next group must not read users before the previous group is stored.
      await previous.end;
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
