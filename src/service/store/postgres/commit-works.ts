import type { Pool } from 'pg';
import { fnv1a } from '../../fnv-1a.ts';
import type { Changes, UserRow } from '../../profiles/changes.ts';
import { createUserGroup } from '../../profiles/user-group.ts';
import { createUserIds } from '../../profiles/user-id.ts';
import { applyWorks, type Work, WorkError } from '../apply-works.ts';
import { type Named, namedBy } from '../named-users.ts';
import { RetryLaterError } from '../write-errors.ts';
import { LockedError, readUsers } from './find-users.ts';
import { retryConflicts } from './retry.ts';
import type { Run } from './statement.ts';
import { inTransaction } from './transaction.ts';
import { joined, LOCK_CONTACTS, LOCK_USERS, READ_USERS } from './user-statements.ts';
import { writeChanges } from './write-changes.ts';

/** Locks that stand for e-mail addresses, phone numbers and tokens that no user has yet. */
const CONTACT_LOCKS = 4_096;
/** An external ID and an alias are unique by themselves; of two replicas that find nobody by these, both would make a user. */
const CONTACTS: ReadonlySet<string> = new Set(['email', 'phone', 'push_token']);
/**
 * Groups of several replicas that meet on the same users are in each other's way. One that was refused for that waits for the
 * others and goes alone, so that it is refused once.
 */
const GROUPS_LOCK = 7_061_639;
const BEGIN_TOGETHER = `BEGIN; SELECT pg_advisory_xact_lock_shared(${GROUPS_LOCK})`;
const BEGIN_ALONE = `BEGIN; SELECT pg_advisory_xact_lock(${GROUPS_LOCK})`;
/** A user who is still locked after so many, about a fifth of a second, is locked by no group. */
const MAX_ATTEMPTS_LOCKED = 8;

const contactSlots = (named: Named): number[] => {
  const slots = new Set<number>();
  for (const [name, { lookup }] of named) if (CONTACTS.has(lookup.by)) slots.add(fnv1a(name) % CONTACT_LOCKS);
  return [...slots].sort((a, b) => a - b);
};

/** Users of whom the group writes banner events alone. */
const onlySeen = (rows: readonly UserRow[], { updated, deleted, bannerEvents }: Changes): UserRow[] => {
  const needed = new Set(bannerEvents.map(({ userId }) => userId));
  for (const { userId } of [...updated, ...deleted]) needed.delete(userId);
  return rows.filter(({ userId }) => needed.has(userId));
};

/** Says which works cannot be stored where users are locked. */
const orRefusal = (error: unknown, works: readonly Work[], attempt: number): unknown => {
  if (!(error instanceof LockedError) || attempt < MAX_ATTEMPTS_LOCKED) return error;
  const refused = works.filter((work) => [...namedBy([work]).keys()].some((name) => error.names.has(name)));
  return new WorkError(refused, new RetryLaterError('A user is locked', { cause: error }));
};

/**
 * Applies the works of a group in one transaction, which waits for no user that another one has locked: it is rolled back, and
 * begins again once no other group is under way. Who is locked then, as by a transaction that was forgotten in psql, is not written: the
 * works with that user are refused and the others stored. On a sharded database, which locks no rows over several shards,
 * the versions tell who was faster, and a user who is locked by no group keeps the whole group waiting until it is refused.
 */
export const createCommitWorks = (pool: Pool, isSharded: boolean) => {
  const ids = createUserIds();

  const store = async (run: Run, works: readonly Work[]): Promise<unknown[]> => {
    const named = namedBy(works);
    // Locks before rows: a transaction that waited here must see what the one before has created.
    const slots = contactSlots(named);
    if (slots.length > 0) await run(LOCK_CONTACTS, [joined(slots)]);
    const rows = await readUsers(run, named, isSharded ? READ_USERS : LOCK_USERS);
    const group = createUserGroup(ids);
    group.add(rows);
    const values = applyWorks(works, group);
    const changes = group.changes();
    // Nothing but their version would show that another replica has merged them away.
    if (isSharded) changes.updated.push(...onlySeen(rows, changes));
    await writeChanges(changes, run, ids);
    return values;
  };

  return (works: readonly Work[]): Promise<unknown[]> =>
    retryConflicts(async (attempt) => {
      const begin = attempt === 1 ? BEGIN_TOGETHER : BEGIN_ALONE;
      try {
        return await inTransaction(pool, (run) => store(run, works), begin);
      } catch (error) {
        throw orRefusal(error, works, attempt);
      }
    });
};
