import type { Pool } from 'pg';
import { fnv1a } from '../../fnv-1a.ts';
import type { Changes, UserRow } from '../../profiles/changes.ts';
import { createUserGroup } from '../../profiles/user-group.ts';
import { createUserIds } from '../../profiles/user-id.ts';
import { applyWorks, type Work, WorkError } from '../apply-works.ts';
import { type Named, namedBy } from '../named-users.ts';
import { RetryLaterError } from '../write-errors.ts';
import { readUsers } from './find-users.ts';
import { ConflictError, isLockedOut, retryConflicts } from './retry.ts';
import type { Run } from './statement.ts';
import { inTransaction } from './transaction.ts';
import { joined, LOCK_CONTACTS, LOCK_FREE_USERS, LOCK_USERS, READ_USERS } from './user-statements.ts';
import { writeChanges } from './write-changes.ts';

/** Locks that stand for e-mail addresses, phone numbers and tokens that no user has yet. */
const CONTACT_LOCKS = 4_096;
/** An external ID and an alias are unique by themselves; of two replicas that find nobody by these, both would make a user. */
const CONTACTS: ReadonlySet<string> = new Set(['email', 'phone', 'push_token']);
/**
 * Groups of several replicas that make the same users, or on a sharded database meet on the same users, refuse each other.
 * One that was refused waits for the others and goes alone, so that it is refused once.
 */
const GROUPS_LOCK = 7_061_639;
const BEGIN_TOGETHER = `BEGIN; SELECT pg_advisory_xact_lock_shared(${GROUPS_LOCK})`;
const BEGIN_ALONE = `BEGIN; SELECT pg_advisory_xact_lock(${GROUPS_LOCK})`;
/** Looks at the users of a group under their locks, until it begins anew. */
const MAX_LOOKS = 5;
/** After a group has waited too long for a row, this long no group waits for any. */
const PASS_LOCKED_MS = 10_000;
/** Meanwhile a locked user is looked for again this often, about a fifth of a second: another replica's group is over by then. */
const MAX_PASSES = 8;

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

const refuse = (works: readonly Work[], names: ReadonlySet<string>) => {
  const refused = works.filter((work) => [...namedBy([work]).keys()].some((name) => names.has(name)));
  throw new WorkError(refused, new RetryLaterError('A user is locked'));
};

/**
 * Applies the works of a group in one transaction. Rows are locked as they are read; on a sharded database, which locks none
 * over several shards, their versions tell who was faster. Where somebody keeps a user locked, as a transaction that was forgotten
 * in psql does, the works with that user are refused and the others stored.
 */
export const createCommitWorks = (pool: Pool, isSharded: boolean) => {
  const ids = createUserIds();
  let lockedOutAt = Number.NEGATIVE_INFINITY;

  const read = (run: Run, works: readonly Work[], named: Named, attempt: number, passLocked: boolean) => {
    if (isSharded) return readUsers(run, named, { statement: READ_USERS });
    if (!passLocked) return readUsers(run, named, { statement: LOCK_USERS, looks: MAX_LOOKS });
    const onLocked = (names: ReadonlySet<string>) => {
      if (attempt < MAX_PASSES) throw new ConflictError('A user is locked');
      refuse(works, names);
    };
    return readUsers(run, named, { statement: LOCK_FREE_USERS, onLocked });
  };

  const transact = (works: readonly Work[], attempt: number, passLocked: boolean): Promise<unknown[]> => {
    // Who keeps a row locked may be another replica that stands still in its group: it is not waited for.
    const begin = attempt === 1 || passLocked ? BEGIN_TOGETHER : BEGIN_ALONE;
    const store = async (run: Run) => {
      const named = namedBy(works);
      // Locks before rows: a transaction that waited here must see what the one before has created.
      const slots = contactSlots(named);
      if (slots.length > 0) await run(LOCK_CONTACTS, [joined(slots)]);
      const rows = await read(run, works, named, attempt, passLocked);
      const group = createUserGroup(ids);
      group.add(rows);
      const values = applyWorks(works, group);
      const changes = group.changes();
      await writeChanges(changes, { run, ids, checked: isSharded ? unchanged(rows, changes) : [] });
      return values;
    };
    return inTransaction(pool, store, begin);
  };

  return async (works: readonly Work[]): Promise<unknown[]> => {
    let passLocked = !isSharded && performance.now() - lockedOutAt < PASS_LOCKED_MS;
    for (;;) {
      try {
        return await retryConflicts((attempt) => transact(works, attempt, passLocked));
      } catch (error) {
        if (!isLockedOut(error)) throw error;
        lockedOutAt = performance.now();
        if (isSharded || passLocked) throw new RetryLaterError('Other writes come first', { cause: error });
        passLocked = true;
      }
    }
  };
};
