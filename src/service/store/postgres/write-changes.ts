import type { RunSql } from '../../operators/index.ts';
import type { UserIds } from '../../profiles/lookup.ts';
import type { Changes } from '../../profiles/user-set.ts';
import type { Work } from '../commit-queue.ts';
import { deedIn, deedOf, type KeptGoals } from '../goals.ts';
import {
  askLater,
  type Counted,
  type CountedTables,
  changesCounts,
  keepCounts,
  STATES_A_STEP,
} from '../keep-counts.ts';
import { alikeOf, BANNER_EVENTS, stateOf } from '../rows.ts';
import { ConflictError } from '../write-errors.ts';
import type { RowsStatement, Run } from './statement.ts';
import {
  ADD_CAMPAIGN_COUNTS,
  ADD_GOAL_COUNTS,
  ADD_POINTS,
  DEEDS_SINCE,
  DELETE_KEYS,
  DELETE_USERS,
  ERASE,
  FORGET,
  INSERT_BANNER_EVENTS,
  INSERT_EVENTS,
  INSERT_KEYS,
  INSERT_USERS,
  MOVE_BANNER_EVENTS,
  MOVE_EVENTS,
  QUESTIONS,
  UPDATE_USERS,
  WRITE_STATES,
} from './user-statements.ts';

/** What a replica keeps from group to group. */
export interface Replica {
  ids: UserIds;
  /** Of the counts that all replicas add to. */
  lane: number;
  goals: KeptGoals;
}

/** Runs a statement for rows, and resolves with what it returns; it is not sent where there are none. */
const write = async <T>(run: Run, { sql, values }: RowsStatement<T>, rows: readonly T[]) =>
  rows.length === 0 ? [] : run(sql, values(rows));

const addCounts = (run: Run, lane: number, { campaigns, goals }: Counted) =>
  Promise.all([
    write(
      run,
      ADD_CAMPAIGN_COUNTS,
      campaigns.map((count) => ({ ...count, lane })),
    ),
    write(
      run,
      ADD_GOAL_COUNTS,
      goals.map((count) => ({ ...count, lane })),
    ),
  ]);

/** Names a banner event among those of a group, by its columns. */
const [USER, BANNER, TYPE, TIME] = BANNER_EVENTS;
const bannerEventName = (event: Changes['bannerEvents'][number]) =>
  [USER!, BANNER!, TYPE!, TIME!].map(({ of }) => of(event)).join(' ');

/** The tables that are asked while counts are kept, in one transaction. */
export const countedTables = (run: Run, lane: number): CountedTables => ({
  run: run as RunSql,
  async statesOf(users, campaigns) {
    const rows = campaigns
      ? await run(QUESTIONS.statesOfCampaigns, [users, campaigns])
      : await run(QUESTIONS.statesOf, [users]);
    return rows.map(stateOf);
  },
  statesAfter: async (...asked) => (await run(QUESTIONS.statesAfter, [...asked, STATES_A_STEP])).map(stateOf),
  alikeEvents: async (userId) => (await run(QUESTIONS.alikeEvents, [userId])).map(alikeOf),
  async moveEvents(from, to) {
    await run(MOVE_EVENTS, [from, to]);
    await run(MOVE_BANNER_EVENTS, [from, to]);
  },
  async insertBannerEvents(events) {
    const stored = await write(run, INSERT_BANNER_EVENTS, events);
    const fresh = new Set(
      stored.map((row) =>
        [row['user_id'], row['banner_id'], row['event_type'], Math.round(row['time'] as number)].join(' '),
      ),
    );
    // Of two alike in one group the first was stored.
    return events.filter((event) => fresh.delete(bannerEventName(event)));
  },
  async deedsSince(users, names) {
    const rows = await run(DEEDS_SINCE, [
      users.map(({ userId }) => userId),
      users.map(({ sinceMs }) => sinceMs),
      names,
    ]);
    return rows.map((row) => ({ userId: Number(row['user_id']), deed: deedIn(row) }));
  },
  writeStates: (states) => write(run, WRITE_STATES, states),
  addCounts: (counted) => addCounts(run, lane, counted),
});

/** Writes what a group has changed. Every count that does not match means that another replica was faster. */
export const writeChanges = async (
  changes: Changes,
  run: Run,
  { ids, lane, goals }: Replica,
  works: readonly Pick<Work, 'also'>[] = [],
): Promise<void> => {
  const { updated, created, deleted, keysRemoved, keysAdded, erased, forgotten } = changes;

  const expect = async <T>(statement: RowsStatement<T>, rows: readonly T[], onMiss?: () => void) => {
    if ((await write(run, statement, rows)).length === rows.length) return;
    onMiss?.();
    throw new ConflictError('Another replica has written the same users');
  };

  /** In the order in which others lock rows. */
  const inOrder = <T extends { userId: number }>(users: readonly T[]): T[] =>
    users.toSorted((a, b) => a.userId - b.userId);

  const keepAndErase = async () => {
    const deeds =
      goals.version === 0
        ? []
        : changes.events
            .map(({ workspaceId, userId, event }) => ({ workspaceId, userId, deed: deedOf(event) }))
            .filter(({ workspaceId, deed }) => goals.campaignsWith(workspaceId, deed.name).length > 0);
    const counting = { ...changes, deeds };
    const counted = changesCounts(counting)
      ? await askLater(keepCounts(countedTables(run, lane), goals, counting))
      : { campaigns: [], goals: [] };
    if (erased.length > 0) await Promise.all(ERASE.map((statement) => run(statement, [erased])));
    return counted;
  };

  // Each is sent before the one before has its answer.
  const sent = [
    expect(UPDATE_USERS, inOrder(updated)),
    expect(DELETE_USERS, inOrder(deleted)),
    expect(INSERT_USERS, inOrder(created), ids.changeLane),
    write(run, DELETE_KEYS, keysRemoved),
    expect(INSERT_KEYS, keysAdded),
    write(run, INSERT_EVENTS, changes.events),
    ...forgotten.flatMap(({ workspaceId, externalId }) =>
      FORGET.map((statement) => run(statement, [workspaceId, externalId])),
    ),
    ...works.flatMap(({ also = [] }) => also).map(({ sql, values }) => run(sql, values)),
  ];
  const counting = keepAndErase();
  // All answers first: counts that are sent after the end of a transaction would be stored beside the next attempt's.
  const refused = (await Promise.allSettled([...sent, counting])).find(({ status }) => status === 'rejected');
  if (refused) throw (refused as PromiseRejectedResult).reason;
  // Last of all, as every request of a workspace adds to these.
  await Promise.all([
    addCounts(run, lane, await counting),
    write(
      run,
      ADD_POINTS,
      changes.points.map((each) => ({ ...each, lane })),
    ),
  ]);
};
