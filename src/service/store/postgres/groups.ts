import type { Pool } from 'pg';
import { collectLookups, createUserIds, type DistinctLookup, type Lookup } from '../../profiles/lookup.ts';
import { createUserGenerations, type UserGenerations } from '../../profiles/user-generations.ts';
import { type ChangeSet, hasErasures, type UserRow, writtenUser } from '../../profiles/user-repository.ts';
import { MAX_CHARACTERS } from '../../profiles/user-working-set.ts';
import { LOCKS } from '../../sql/advisory-locks.ts';
import { type BulkStatement, POSTGRES } from '../../sql/dialect.ts';
import { readText, type SqlRow } from '../../sql/row-readers.ts';
import { runStepsAsync } from '../../sql/steps.ts';
import { pickFields } from '../../sql/table.ts';
import { USERS } from '../../sql/user-tables.ts';
import { commitGroup, type GroupWrites, sortByUser, toGroupWrites } from '../commit-group.ts';
import { applyMutations, type Mutation, MutationError } from '../commit-queue.ts';
import { POSTGRES_STATEMENTS } from '../statements.ts';
import { ConflictError, classifyWriteError, TransientError } from '../write-errors.ts';
import {
  LOCK_USERS,
  LOCK_USERS_SKIP_LOCKED,
  LockedError,
  READ_CHANGED_USERS,
  readUserPages,
} from './read-users.ts';
import { createPoolRun, createSend, inTransaction, type Run, retryConflicts } from './statement.ts';

/** Lookups that find one user. The versions of the users show whether another replica has changed them. */
const isKey = ({ by }: Lookup): boolean => by === 'external_id' || by === 'braze_id';
/**
 * Identifiers that need a lock. The database enforces unique external IDs and aliases, but not unique contacts, so two replicas
 * that find no user by an address would both create a user.
 */
const CONTACTS: ReadonlySet<string> = new Set(['email', 'phone', 'push_token']);
/** Maximum wait of a group for locks before it retries exclusively, in milliseconds. Far longer than a group takes. */
const SHARED_LOCK_TIMEOUT_MS = 1_000;
/** Identifies the session and the table. Another session may be that of a restored database or of another server. */
const SOURCE = "concat_ws(' ', pg_backend_pid(), pg_relation_filenode('users')) AS source";
const BEGIN_SHARED = `BEGIN; SET LOCAL lock_timeout = ${SHARED_LOCK_TIMEOUT_MS};
  SELECT pg_advisory_xact_lock_shared(${LOCKS.groups}), ${SOURCE}`;
const BEGIN_EXCLUSIVE = `BEGIN; SELECT pg_advisory_xact_lock(${LOCKS.groups}), ${SOURCE}`;
/**
 * Time after a conflict during which groups lock their users. Long, because the first group without locks probably conflicts
 * again, which empties the cache.
 */
const LOCKING_MS = 60_000;
/** Maximum number of users that are read at once. */
const GROUP_PAGE = 1_000;

/** Number of advisory locks of contacts. Fits into the lock table of the server. */
const CONTACT_LOCKS = 4_096;

/** Locks lookup IDs, including those without a user, in a stable order. */
export const LOCK_CONTACTS = `SELECT pg_advisory_xact_lock(${LOCKS.contacts}, slot)
  FROM (SELECT DISTINCT hashtext(name) & ${CONTACT_LOCKS - 1} AS slot FROM unnest($1::text[]) AS name ORDER BY 1) AS slots`;

/**
 * Finds users with unchanged versions. On a single server locks them against deletion, without a wait, because it would be in
 * another order than that of the updates.
 */
const createFindUnchanged = (isSharded: boolean) =>
  POSTGRES.bulkQuery(
    pickFields(USERS, ['userId', 'version']).columns,
    ({ joined, column }) =>
      `SELECT 1 FROM users ${joined(',')} WHERE users.user_id = ${column('user_id')} AND users.version = ${column('version')}
       ${isSharded ? '' : 'FOR KEY SHARE OF users NOWAIT'}`,
  );

/** Sends the writes of a group. Throws `ConflictError` if another replica has changed a row since it was read. */
export const sendWrites = async (run: Run, writes: GroupWrites, onIdsTaken: () => void): Promise<void> => {
  await runStepsAsync(commitGroup(POSTGRES_STATEMENTS, writes), (statement: BulkStatement) => {
    const response = createSend(run)(statement);
    // Another replica may create the same user IDs.
    if (statement === writes.users.created) response.catch(onIdsTaken);
    return response;
  });
};

/** Returns the error of mutations that name a locked user. The queue stores the other mutations. */
const toLockedError = (mutations: readonly Mutation[], { lookupIds }: LockedError): MutationError => {
  const lockedMutations = mutations.filter((mutation) =>
    [...collectLookups([mutation]).keys()].some((lookupId) => lookupIds.has(lookupId)),
  );
  return new MutationError(lockedMutations, new TransientError('A user is locked'));
};

/** Reads users of mutations into the cache. Returns the lookups that it has read. */
type ReadGroup = (
  mutations: readonly Mutation[],
  cachedUsers: UserGenerations,
) => Promise<Iterable<DistinctLookup>>;

/** Applied mutations, with the users that they changed. A failure is thrown later, because the users may be read again first. */
type Applied = { cachedUsers: UserGenerations } & (
  | { writes: GroupWrites; values: unknown[]; changes: ChangeSet; clearsCache: boolean }
  | { failure: unknown }
);

/** A group in flight. */
interface PendingGroup {
  /** Resolves with the users that the group is applied to first; with `null` if it was not applied. */
  appliedTo: Promise<UserGenerations | null>;
  end: Promise<unknown>;
}

/**
 * Applies the mutations of a group to their users, and commits the changes. Users stay cached after a read or write, and row
 * versions detect conflicts with other replicas. Applies a group during the commit of the previous group, except if its lookups
 * may find several users, whom it reads in its transaction. If a commit fails, empties the cache and applies later groups again.
 *
 * After a conflict, a group retries exclusively, and for a time groups lock the users that they read, because replicas that write
 * the same users would keep repeating them. A sharded database cannot lock rows of several shards. While a group runs
 * exclusively, no other group locks rows, so a locked row belongs to another program, for example a transaction left open in
 * psql. In that case, rejects the mutations of the locked user and stores the others. On a sharded database, rejects the whole
 * group.
 */
export const createPostgresGroups = (pool: Pool, requests: Pool, isSharded: boolean) => {
  const ids = createUserIds();
  const findUnchanged = createFindUnchanged(isSharded);
  const createCache = () => createUserGenerations(ids, MAX_CHARACTERS);
  let cachedUsers = createCache();
  let latest: PendingGroup = { appliedTo: Promise.resolve(cachedUsers), end: Promise.resolve() };
  let source: string | null = null;
  let lockingUntil = 0;

  const isLocking = () => performance.now() < lockingUntil;
  const startLocking = () => {
    lockingUntil = performance.now() + LOCKING_MS;
  };

  const readUncached: ReadGroup = async (mutations, users) => {
    const distinctLookups = collectLookups(mutations, users.isCached);
    await readUserPages(createPoolRun(requests), distinctLookups, users.add, { pageSize: GROUP_PAGE });
    return distinctLookups.values();
  };

  const readInTransaction =
    (run: Run, statement: string): ReadGroup =>
    async (mutations, users) => {
      const distinctLookups = collectLookups(mutations);
      // Locks precede reads, because a transaction that waited for a lock must see the users that the previous transaction created.
      const contacts = [...distinctLookups]
        .filter(([, { lookup }]) => CONTACTS.has(lookup.by))
        .map(([name]) => name);
      if (contacts.length > 0) await run(LOCK_CONTACTS, [contacts]);
      const found = new Set<number>();
      const add = (page: UserRow[]) => {
        for (const { userId } of page) found.add(userId);
        users.add(page);
      };
      await readUserPages(run, distinctLookups, add, {
        statement,
        cachedUsers: users,
        pageSize: GROUP_PAGE,
      });
      users.forgetOthers(distinctLookups.values(), (userId) => found.has(userId));
      return [];
    };

  const toWrites = (changes: ChangeSet, mutations: readonly Mutation[], users: UserGenerations) => {
    const written = new Set([...changes.updated, ...changes.created].map(({ userId }) => userId));
    const unwritten = new Set<UserRow>();
    for (const { workspaceId, lookups } of mutations)
      for (const lookup of lookups.filter(isKey))
        for (const user of users.getRows(workspaceId, lookup))
          if (!written.has(user.userId)) unwritten.add(user);
    if (isSharded) {
      // Only the versions of these users show that another replica has merged them.
      const needed = new Set(changes.bannerEvents.map(({ userId }) => userId));
      for (const user of unwritten) {
        if (!needed.has(user.userId)) continue;
        changes.updated.push(writtenUser(user));
        user.version += 1;
        unwritten.delete(user);
      }
    }
    const extraStatements = mutations.flatMap((mutation) => mutation.extraStatements ?? []);
    const writes = toGroupWrites(POSTGRES_STATEMENTS, changes, extraStatements);
    const checked = sortByUser([...unwritten]);
    writes.otherStatements.unshift({ ...findUnchanged(checked), expectedRows: checked.length });
    return writes;
  };

  /** Reads the users of a group, and applies the mutations to them. No other group is applied in the meantime. */
  const applyGroup = async (mutations: readonly Mutation[], read: ReadGroup): Promise<Applied> => {
    const users = cachedUsers;
    try {
      users.rotate();
      const loadedLookups = await read(mutations, users);
      const { value: values, changes } = users.change(loadedLookups, (getUsers) =>
        applyMutations(mutations, getUsers),
      );
      return {
        cachedUsers: users,
        writes: toWrites(changes, mutations, users),
        changes,
        clearsCache: hasErasures(changes),
        values,
      };
    } catch (failure) {
      return { cachedUsers: users, failure };
    }
  };

  /** Removes users whose changes were not stored. Other groups must not have been applied to them. */
  const forgetChanges = ({ updated, created, deleted }: ChangeSet) => {
    if (deleted.length > 0) cachedUsers = createCache();
    else
      for (const { workspaceId, userId } of [...updated, ...created]) cachedUsers.forget(workspaceId, userId);
  };

  const assertSource = ([row]: SqlRow[]) => {
    const current = readText(row!, 'source');
    const isChanged = source !== null && source !== current;
    source = current;
    if (isChanged) throw new ConflictError('The users were read from another database');
  };

  const writeGroup = async (
    mutations: readonly Mutation[],
    previous: PendingGroup,
    onApplied: (users: UserGenerations) => void,
  ): Promise<unknown[]> => {
    const isAppliedEarly = () => !isLocking() && mutations.every(({ lookups }) => lookups.every(isKey));
    const apply = async (read: ReadGroup) => {
      const applied = await applyGroup(mutations, read);
      onApplied(applied.cachedUsers);
      return applied;
    };
    const assertApplied = (applied: Applied) => {
      if ('failure' in applied) throw applied.failure;
      return applied;
    };
    // Not applied early if the previous group must be applied again.
    const isEarly = (await previous.appliedTo) === cachedUsers && isAppliedEarly();
    const early = isEarly ? await apply(readUncached) : null;
    await previous.end;

    return retryConflicts(async (attempt) => {
      const isShared = attempt === 1;
      const lock = isShared ? LOCK_USERS : LOCK_USERS_SKIP_LOCKED;
      const statement = isSharded || (isShared && !isLocking()) ? READ_CHANGED_USERS : lock;
      let late: ChangeSet | null = null;
      // A replaced session, or a merge by the previous group during an early read, is not a conflict with another replica.
      let hasBegun = false;
      try {
        let applied = early?.cachedUsers === cachedUsers ? assertApplied(early) : null;
        if (!applied && isShared && isAppliedEarly()) applied = assertApplied(await apply(readUncached));
        const { values, clearsCache } = await inTransaction(
          pool,
          async (run, begun) => {
            assertSource(begun);
            hasBegun = true;
            if (!applied) {
              applied = assertApplied(await apply(readInTransaction(run, statement)));
              if (isLocking()) late = applied.changes;
            }
            await sendWrites(run, applied.writes, ids.changeOffset);
            return applied;
          },
          isShared ? BEGIN_SHARED : BEGIN_EXCLUSIVE,
        );
        // Erased users must not stay in memory.
        if (clearsCache) cachedUsers = createCache();
        return values;
      } catch (error) {
        const isConflict = classifyWriteError(error) === 'retry';
        if (isConflict && late) forgetChanges(late);
        else cachedUsers = createCache();
        if (isConflict && hasBegun) startLocking();
        throw error instanceof LockedError ? toLockedError(mutations, error) : error;
      }
    });
  };

  const write = (mutations: readonly Mutation[]): Promise<unknown[]> => {
    const { promise: appliedTo, resolve } = Promise.withResolvers<UserGenerations | null>();
    const values = writeGroup(mutations, latest, resolve).finally(() => resolve(null));
    latest = { appliedTo, end: values.catch(() => undefined) };
    return values;
  };

  return {
    writeGroup: write,
    /** A group that locks its users cannot be applied early, so a second one would only split the queue. */
    maxConcurrentGroups: () => (isLocking() ? 1 : 2),
  };
};
