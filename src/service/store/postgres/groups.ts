import type { Pool } from 'pg';
import { collectLookups, createUserIds, type UserIds } from '../../profiles/lookup.ts';
import { type ChangeSet, type UserRow, writtenUser } from '../../profiles/user-repository.ts';
import { createUserWorkingSet, MAX_CHARACTERS } from '../../profiles/user-working-set.ts';
import { LOCKS } from '../../sql/advisory-locks.ts';
import type { BulkStatement } from '../../sql/dialect.ts';
import type { Statement } from '../../sql/row-readers.ts';
import { runStepsAsync } from '../../sql/steps.ts';
import { commitGroup, toGroupWrites } from '../commit-group.ts';
import { applyMutations, type Mutation, MutationError } from '../commit-queue.ts';
import { POSTGRES_STATEMENTS } from '../statements.ts';
import { TransientError } from '../write-errors.ts';
import {
  createUserCache,
  LOCK_USERS,
  LOCK_USERS_SKIP_LOCKED,
  LockedError,
  READ_CHANGED_USERS,
  readUsers,
} from './read-users.ts';
import { createSend, inTransaction, type Run, retryConflicts } from './statement.ts';

/**
 * Identifiers that need a lock. The database enforces unique external IDs and aliases, but not unique contacts, so two replicas
 * that find no user by an address would both create a user.
 */
const CONTACTS: ReadonlySet<string> = new Set(['email', 'phone', 'push_token']);
/** Maximum wait of a group for locks before it retries exclusively, in milliseconds. Far longer than a group takes. */
const SHARED_LOCK_TIMEOUT_MS = 1_000;
const BEGIN_SHARED = `BEGIN; SET LOCAL lock_timeout = ${SHARED_LOCK_TIMEOUT_MS}; SELECT pg_advisory_xact_lock_shared(${LOCKS.groups})`;
const BEGIN_EXCLUSIVE = `BEGIN; SELECT pg_advisory_xact_lock(${LOCKS.groups})`;

/** Number of advisory locks of contacts. Fits into the lock table of the server. */
const CONTACT_LOCKS = 4_096;

/** Locks lookup IDs, including those without a user, in a stable order. */
export const LOCK_CONTACTS = `SELECT pg_advisory_xact_lock(${LOCKS.contacts}, slot)
  FROM (SELECT DISTINCT hashtext(name) & ${CONTACT_LOCKS - 1} AS slot FROM unnest($1::text[]) AS name ORDER BY 1) AS slots`;

/** Returns the rows of users with banner events in the group, but no change or deletion of the row. */
const findUsersOnlyWithBannerEvents = (
  rows: readonly UserRow[],
  { updated, deleted, bannerEvents }: ChangeSet,
): UserRow[] => {
  const needed = new Set(bannerEvents.map(({ userId }) => userId));
  for (const { userId } of [...updated, ...deleted]) needed.delete(userId);
  return rows.filter(({ userId }) => needed.has(userId));
};

/** Writes the changes of a group. Throws `ConflictError` if another replica has changed a row since it was read. */
export const writeChanges = async (
  run: Run,
  changes: ChangeSet,
  { ids, extraStatements = [] }: { ids: UserIds; extraStatements?: Statement[] },
): Promise<void> => {
  const group = toGroupWrites(POSTGRES_STATEMENTS, changes, extraStatements);
  await runStepsAsync(commitGroup(POSTGRES_STATEMENTS, group), (statement: BulkStatement) => {
    const response = createSend(run)(statement);
    // Another replica may create the same user IDs.
    if (statement === group.users.created) response.catch(ids.changeOffset);
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

/**
 * Applies the mutations of a group in one transaction, which locks the users that it reads. A sharded database cannot lock rows
 * of several shards, so row versions detect conflicts with other replicas instead. While a group runs exclusively, no other group
 * locks rows, so a locked row belongs to another program, for example a transaction left open in psql. In that case, rejects the
 * mutations of the locked user and stores the others. On a sharded database, rejects the whole group.
 */
export const createPostgresGroups = (pool: Pool, isSharded: boolean) => {
  const cache = createUserCache(MAX_CHARACTERS);
  const ids = createUserIds();

  const writeGroup = async (run: Run, mutations: readonly Mutation[], read: string) => {
    const distinctLookups = collectLookups(mutations);
    // Locks precede reads, because a transaction that waited for a lock must see the users that the previous transaction created.
    const contacts = [...distinctLookups]
      .filter(([, { lookup }]) => CONTACTS.has(lookup.by))
      .map(([name]) => name);
    if (contacts.length > 0) await run(LOCK_CONTACTS, [contacts]);
    const rows = await readUsers(run, distinctLookups, { statement: read, cache });
    const workingSet = createUserWorkingSet(ids);
    const { value: values, changes } = workingSet.change({ users: rows }, (getUsers) =>
      applyMutations(mutations, getUsers),
    );
    // Only the versions of these users show that another replica has merged them.
    if (isSharded) changes.updated.push(...findUsersOnlyWithBannerEvents(rows, changes).map(writtenUser));
    const extraStatements = mutations.flatMap((mutation) => mutation.extraStatements ?? []);
    await writeChanges(run, changes, { ids, extraStatements });
    return { values, users: workingSet.rows() };
  };

  const sharedMode = { begin: BEGIN_SHARED, read: isSharded ? READ_CHANGED_USERS : LOCK_USERS };
  const exclusiveMode = {
    begin: BEGIN_EXCLUSIVE,
    read: isSharded ? READ_CHANGED_USERS : LOCK_USERS_SKIP_LOCKED,
  };

  return (mutations: readonly Mutation[]): Promise<unknown[]> =>
    retryConflicts(async (attempt) => {
      const { begin, read } = attempt === 1 ? sharedMode : exclusiveMode;
      try {
        const { values, users } = await inTransaction(pool, (run) => writeGroup(run, mutations, read), begin);
        cache.put(users);
        return values;
      } catch (error) {
        throw error instanceof LockedError ? toLockedError(mutations, error) : error;
      }
    });
};
