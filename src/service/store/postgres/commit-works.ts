import type { Pool } from 'pg';
import { fnv1a } from '../../fnv-1a.ts';
import { createUserIds } from '../../profiles/user-id.ts';
import { applyWorks, type Work } from '../apply-works.ts';
import type { Changes, UserRow } from '../changes.ts';
import { type Named, namedBy } from '../named-users.ts';
import { RetryLaterError } from '../write-errors.ts';
import { readUsers } from './find-users.ts';
import { createLockedUsers } from './locked-users.ts';
import { isLockedOut, retryConflicts } from './retry.ts';
import { inTransaction } from './transaction.ts';
import { joined, LOCK_CONTACTS, LOCK_USERS, READ_USERS } from './user-statements.ts';
import { writeChanges } from './write-changes.ts';

/** Locks that stand for e-mail addresses, phone numbers and tokens that no user has yet. */
const CONTACT_LOCKS = 4_096;
/** An external ID and an alias are unique by themselves; of two replicas that find nobody by these, both would make a user. */
const CONTACTS: ReadonlySet<string> = new Set(['email', 'phone', 'push_token']);
/**
 * On a sharded database groups of several replicas that meet on the same users refuse each other. One that was refused
 * waits for the others and goes alone, so that it is refused once.
 */
const GROUPS_LOCK = 7_061_639;
const GO_TOGETHER = `SELECT pg_advisory_xact_lock_shared(${GROUPS_LOCK})`;
const GO_ALONE = `SELECT pg_advisory_xact_lock(${GROUPS_LOCK})`;
/** Looks at the users of a group under their locks, until it begins anew. */
const MAX_LOOKS = 5;
/** Times that a group may wait for rows that somebody else has locked. */
const MAX_WAITS = 2;

const contactSlots = (named: Named): number[] => {
  const slots = new Set<number>();
  for (const [name, { lookup }] of named) if (CONTACTS.has(lookup.by)) slots.add(fnv1a(name) % CONTACT_LOCKS);
  return [...slots].sort((a, b) => a - b);
};

/** Users who were read and not written, and have banner events in the group. */
const unchanged = (rows: readonly UserRow[], { updated, deleted, bannerEvents }: Changes): UserRow[] => {
  const needed = new Set(bannerEvents.map(({ userId }) => userId));
  for (const { userId } of [...updated, ...deleted]) needed.delete(userId);
  return rows.filter(({ userId }) => needed.has(userId));
};

/**
 * Applies the works of a group in one transaction. Rows are locked as they are read; on a sharded database, which locks none
 * over several shards, their versions tell who was faster.
 */
export const createCommitWorks = (pool: Pool, isSharded: boolean) => {
  const ids = createUserIds();
  const locked = createLockedUsers(pool);

  const transact = (works: readonly Work[], named: Named, attempt: number): Promise<unknown[]> =>
    inTransaction(pool, async (run) => {
      if (isSharded) await run(attempt === 1 ? GO_TOGETHER : GO_ALONE);
      // Locks before rows: a transaction that waited here must see what the one before has created.
      const slots = contactSlots(named);
      if (slots.length > 0) await run(LOCK_CONTACTS, [joined(slots)]);
      const rows = await readUsers(
        run,
        named,
        isSharded
          ? { statement: READ_USERS }
          : { statement: LOCK_USERS, looks: MAX_LOOKS, onFound: (ids) => locked.recheck(run, works, ids) },
      );
      const { changes, values } = applyWorks(works, rows, ids);
      await writeChanges(changes, { run, ids, checked: isSharded ? unchanged(rows, changes) : [] });
      return values;
    });

  return async (works: readonly Work[]): Promise<unknown[]> => {
    const named = namedBy(works);
    for (let waits = 1; ; waits += 1) {
      try {
        return await retryConflicts((attempt) => transact(works, named, attempt));
      } catch (error) {
        if (!isLockedOut(error)) throw error;
        const refusal = new RetryLaterError('Other writes come first', { cause: error });
        if (isSharded || waits === MAX_WAITS) throw refusal;
        // Where all of a table is locked, it cannot be told which users are.
        await locked.find(works, named).catch((found) => {
          throw isLockedOut(found) ? refusal : found;
        });
      }
    }
  };
};
