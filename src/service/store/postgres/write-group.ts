import { randomInt } from 'node:crypto';
import type { Pool } from 'pg';
import type { SqlRow } from '../../operators/index.ts';
import { createUserIds } from '../../profiles/lookup.ts';
import { createUserMemory } from '../../profiles/user-memory.ts';
import { type Changes, type UserRow, writtenUser } from '../../profiles/user-set.ts';
import { applyWorks, MAX_CHARACTERS, namedBy, type Work, WorkError } from '../commit-queue.ts';
import { keptGoals } from '../goals.ts';
import { askLater, countGoals, type GoalStep } from '../keep-counts.ts';
import { RetryLaterError } from '../write-errors.ts';
import { createUserCache, LockedError, readUsers } from './read-users.ts';
import type { Run } from './statement.ts';
import { inTransaction, retryConflicts } from './statement.ts';
import {
  ALL_GOALS,
  LOCK_CONTACTS,
  LOCK_FREE_USERS,
  LOCK_USERS,
  READ_CHANGED_USERS,
} from './user-statements.ts';
import { countedTables, type Replica, writeChanges } from './write-changes.ts';

/** The database keeps external IDs and aliases unique; two replicas that find no user by one of these would both make one. */
const CONTACTS: ReadonlySet<string> = new Set(['email', 'phone', 'push_token']);
/** Each replica adds to counts in one of so many rows, which it chooses at random: in one row they would wait for each other. */
const LANES = 16;
/**
 * Every group holds this lock, together with others or alone. A group that another one was in the way of begins again alone,
 * so that it is refused once.
 */
const GROUPS_LOCK = 7_061_639;
/** How long a group waits for what others have locked, before it goes alone: far longer than a group takes. */
const TOGETHER_MS = 1_000;
/** Goals are changed by who is alone: those that are read with the lock are those of the whole transaction. */
const GOALS_VERSION = 'SELECT coalesce(max(version), 0) AS version FROM campaign_goals';
const BEGIN_TOGETHER = `BEGIN; SET LOCAL lock_timeout = ${TOGETHER_MS}; SELECT pg_advisory_xact_lock_shared(${GROUPS_LOCK}); ${GOALS_VERSION}`;
const BEGIN_ALONE = `BEGIN; SELECT pg_advisory_xact_lock(${GROUPS_LOCK}); ${GOALS_VERSION}`;

/** Users of whom the group writes banner events alone. */
const onlySeen = (rows: readonly UserRow[], { updated, deleted, bannerEvents }: Changes): UserRow[] => {
  const needed = new Set(bannerEvents.map(({ userId }) => userId));
  for (const { userId } of [...updated, ...deleted]) needed.delete(userId);
  return rows.filter(({ userId }) => needed.has(userId));
};

/** The works that name a locked user are refused, and the others stored. */
const refuseLocked = (works: readonly Work[], { names }: LockedError): WorkError => {
  const refused = works.filter((work) => [...namedBy([work]).keys()].some((name) => names.has(name)));
  return new WorkError(refused, new RetryLaterError('A user is locked'));
};

/**
 * Applies the works of a group in one transaction. It locks rows as it reads them. A sharded database cannot lock rows over several
 * shards: there their versions show whether another replica was faster. While a group is alone no other group locks rows. One
 * that is still locked belongs to something else, for instance a transaction that somebody forgot in psql. Then the works
 * with that user are refused and the others stored; on a sharded database the whole group is refused.
 */
export const createPostgresGroups = (pool: Pool, isSharded: boolean) => {
  const cache = createUserCache(MAX_CHARACTERS);
  const replica: Replica = { ids: createUserIds(), lane: randomInt(LANES), goals: keptGoals([], 0) };

  const store = async (run: Run, begun: SqlRow[], works: readonly Work[], read: string) => {
    const version = Number(begun[0]?.['version']);
    if (version !== replica.goals.version) replica.goals = keptGoals(await run(ALL_GOALS, []), version);
    const named = namedBy(works);
    // Locks before rows: a transaction that waited here must see what the one before has created.
    const contacts = [...named].filter(([, { lookup }]) => CONTACTS.has(lookup.by)).map(([name]) => name);
    if (contacts.length > 0) await run(LOCK_CONTACTS, [contacts]);
    const rows = await readUsers(run, named, { statement: read, cache });
    const memory = createUserMemory(replica.ids);
    const { value: values, changes } = memory.change({ users: rows }, (usersOf) =>
      applyWorks(works, usersOf),
    );
    // Nothing but their version would show that another replica has merged them away.
    if (isSharded) changes.updated.push(...onlySeen(rows, changes).map(writtenUser));
    await writeChanges(changes, run, replica, works);
    return { values, users: memory.rows() };
  };

  const together = { begin: BEGIN_TOGETHER, read: isSharded ? READ_CHANGED_USERS : LOCK_USERS };
  const alone = { begin: BEGIN_ALONE, read: isSharded ? READ_CHANGED_USERS : LOCK_FREE_USERS };

  return {
    writeGroup: (works: readonly Work[]): Promise<unknown[]> =>
      retryConflicts(async (attempt) => {
        const { begin, read } = attempt === 1 ? together : alone;
        try {
          const { values, users } = await inTransaction(
            pool,
            (run, begun) => store(run, begun, works, read),
            begin,
          );
          cache.put(users);
          return values;
        } catch (error) {
          throw error instanceof LockedError ? refuseLocked(works, error) : error;
        }
      }),

    /** Counts goals anew for some users: no group is under way meanwhile, on a sharded database as well. */
    countGoals: (step: GoalStep): Promise<boolean> =>
      retryConflicts(() =>
        inTransaction(
          pool,
          (run) => askLater(countGoals(countedTables(run, replica.lane), step)),
          BEGIN_ALONE,
        ),
      ),
  };
};
