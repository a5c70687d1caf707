import { mapKeys } from '../../protocol/index.ts';
import { MEASURES } from '../measures.ts';
import { type Column, readMs } from '../sql/columns.ts';
import {
  type BulkStatement,
  type Dialect,
  POSTGRES,
  query,
  type Send,
  SQLITE,
  selectList,
} from '../sql/dialect.ts';
import { FEED_NAMES, FEED_START, FEED_TABLES, type FeedCursor } from '../sql/feed.ts';
import { readNumber, type SqlRow, type SqlValue } from '../sql/row-readers.ts';
import { bigint, defineRow, pickFields, type RowOf, text, timestamp } from '../sql/table.ts';
import { USER_CHANGES } from '../sql/user-tables.ts';
import { createWrites } from '../sql/writes.ts';
import { COUNTED_COLUMNS } from './counted-event.ts';
import type { CampaignCount } from './counts.ts';
import { createEventCountStatements } from './event-counts.ts';
import { GOAL_CANDIDATE_COLUMNS } from './goals.ts';
import {
  CAMPAIGN_COUNTS,
  CAMPAIGN_GOALS,
  FEED_CURSORS,
  GOAL_COUNTS,
  NEW_CURSOR,
  USER_RESULTS,
  type UserResultRow,
} from './tables.ts';

const { consumer: _, ...cursorFields } = FEED_CURSORS.fields;
const CURSOR = defineRow(cursorFields);

export type ResultsCursor = RowOf<typeof CURSOR>;
const CONSUMER = 'results';

export const toCursor = (row: SqlRow | undefined): ResultsCursor => (row ? CURSOR.read(row) : NEW_CURSOR);

/** User and campaign of rows of `user_results`. */
export type ResultKey = Pick<UserResultRow, 'userId' | 'campaignId'>;

const counts = CAMPAIGN_COUNTS.fields;
const COUNT_COLUMNS: Column<CampaignCount>[] = [
  ...pickFields(CAMPAIGN_COUNTS, ['workspaceId', 'campaignId', 'variantId', 'dimension']).columns,
  ...MEASURES.flatMap((measure, index): Column<CampaignCount>[] => [
    { ...counts[measure.events], toValue: ({ events }) => events[index]! },
    { ...counts[measure.usersColumn], toValue: ({ users }) => users[index]! },
  ]),
];

/** Change of a user after the user's events were stored. */
export type UserChange = RowOf<typeof USER_CHANGES>;

/** Range of a workspace's events by position, limited to events received before a time. */
export interface EventRange {
  workspaceId: string;
  after: number;
  through: number;
  /** Unix milliseconds. */
  beforeMs: number;
}

/** Users whose events are read, and the start of the events. */
export interface EventsSince {
  userId: number;
  sinceMs: number;
}

const EVENTS_SINCE = defineRow({ userId: bigint('of_user'), sinceMs: timestamp('since') }).columns;
const RESULT_KEYS = defineRow({ userId: bigint('key_user'), campaignId: text('key_campaign') }).columns;

export const createResultsStatements = (dialect: Dialect) => {
  const { bulkQuery, indexUserEvents, isIn, list, ofUser, returnedMs } = dialect;
  const { add, insert, upsert } = createWrites(dialect);
  const defineQuery =
    (sql: string) =>
    (...values: SqlValue[]): BulkStatement =>
      query(sql, ...values);
  const results = `SELECT ${selectList(dialect, USER_RESULTS.columns)} FROM user_results`;
  const goalCandidates = `SELECT ${selectList(dialect, GOAL_CANDIDATE_COLUMNS)} FROM events`;
  const eventsSince = bulkQuery(
    EVENTS_SINCE,
    ({ joined, column, extraParameter }) =>
      `${goalCandidates} ${joined(',')} WHERE ${ofUser(`= ${column('of_user')}`)} AND occurred_at >= ${column('since')}
         AND event_id <= ${extraParameter(0)} AND ${isIn('coalesce(product_id, name)', extraParameter(1), 'text')}`,
  );
  const resultsOfKeys = (months: string) =>
    bulkQuery(
      RESULT_KEYS,
      ({ joined, column }) =>
        `${results} ${joined(',')} WHERE user_id = ${column('key_user')} AND campaign_id = ${column('key_campaign')} AND month ${months}`,
    );
  const writeCursor = upsert(FEED_CURSORS);
  const ofUsers = isIn('user_id', '$1', 'bigint');

  return {
    cursor: defineQuery(
      `SELECT ${selectList(dialect, CURSOR.columns)} FROM feed_cursors WHERE consumer = '${CONSUMER}'`,
    ),
    writeCursor: (cursor: ResultsCursor): BulkStatement => writeCursor([{ consumer: CONSUMER, ...cursor }]),
    /**
     * Returns the last ID of each table of the feed. Uses separate statements, because a cluster rejects a combined statement.
     */
    lastIds: mapKeys(FEED_NAMES, (feed) => {
      const { name, idColumn } = FEED_TABLES[feed];
      return query(`SELECT coalesce(max(${idColumn}), 0) AS id FROM ${name}`);
    }),
    /** Returns the time of the first row of each table after a cursor. */
    firstTimes: (cursor: FeedCursor): BulkStatement[] =>
      FEED_NAMES.map((feed) => {
        const { name, idColumn, timeColumn } = FEED_TABLES[feed];
        return query(
          `SELECT ${dialect.ms(timeColumn)} AS at FROM ${name} WHERE ${idColumn} > $1 ORDER BY ${idColumn} LIMIT 1`,
          cursor[feed],
        );
      }),
    goals: defineQuery('SELECT * FROM campaign_goals'),
    /** Adds goals, or changes the time zone of existing ones. */
    addGoals: insert(
      CAMPAIGN_GOALS,
      ' ON CONFLICT (workspace_id, campaign_id, goal) DO UPDATE SET time_zone = excluded.time_zone',
    ),
    /** Moves the backfill of goals from `from` to `through`. */
    setBackfilled: defineQuery(
      'UPDATE campaign_goals SET backfilled_through = $2 WHERE backfilled_through = $1 AND added_after > $1',
    ),

    userChanges: defineQuery(
      `SELECT ${selectList(dialect, USER_CHANGES.columns)} FROM user_changes
       WHERE change_id > $1 ORDER BY change_id LIMIT $2`,
    ),
    bannerEvents: defineQuery(
      `SELECT banner_event_id, ${selectList(dialect, COUNTED_COLUMNS)}
       FROM banner_events WHERE banner_event_id > $1 AND banner_event_id <= $2 AND NOT is_test_send ORDER BY banner_event_id LIMIT $3`,
    ),
    goalCandidates: (
      after: number,
      through: number,
      values: readonly string[],
      limit: number,
    ): BulkStatement =>
      query(
        `${goalCandidates} WHERE event_id > $1 AND event_id <= $2 AND ${isIn('coalesce(product_id, name)', '$3', 'text')}
         ORDER BY event_id LIMIT $4`,
        after,
        through,
        list(values),
        limit,
      ),
    /** Deletes events, and returns the deleted rows. */
    deleteEvents: ({ workspaceId, after, through, beforeMs }: EventRange): BulkStatement =>
      query(
        `DELETE FROM events WHERE event_id > $1 AND event_id <= $2 AND workspace_id = $3 AND received_at < ${dialect.timestamp('$4')}
         RETURNING ${selectList({ ms: returnedMs }, GOAL_CANDIDATE_COLUMNS)}`,
        after,
        through,
        workspaceId,
        beforeMs,
      ),
    indexUserEvents,
    /** Must run after `indexUserEvents`. */
    goalCandidatesOf: (
      users: readonly EventsSince[],
      values: readonly string[],
      through: number,
    ): BulkStatement => eventsSince(users, through, list(values)),

    /** Returns results of users, except the days of earlier months. */
    allTimeRows: (users: readonly number[]): BulkStatement =>
      query(`${results} WHERE ${ofUsers} AND month = ''`, list(users)),
    resultsOfUsers: (users: readonly number[]): BulkStatement =>
      query(`${results} WHERE ${ofUsers}`, list(users)),
    /** Returns results of users and campaigns, except the days of earlier months. */
    allTimeRowsOfKeys: resultsOfKeys("= ''"),
    /** Returns the days of earlier months. */
    monthRows: resultsOfKeys("<> ''"),
    deleteUserResults: (users: readonly number[]): BulkStatement =>
      query(`DELETE FROM user_results WHERE ${ofUsers}`, list(users)),
    writeUserResults: upsert(USER_RESULTS),
    addCampaignCounts: add({ ...CAMPAIGN_COUNTS, insertedColumns: COUNT_COLUMNS }),
    addGoalCounts: add(GOAL_COUNTS),
    ...createEventCountStatements(dialect),
  };
};

export type ResultsStatements = ReturnType<typeof createResultsStatements>;

/** Returns the cursor of the last visible rows of the feed. */
export const readLastIds = async (
  { lastIds }: ResultsStatements,
  send: Send<SqlRow[] | Promise<SqlRow[]>>,
): Promise<FeedCursor> => {
  const cursor = { ...FEED_START };
  for (const name of FEED_NAMES) cursor[name] = readNumber((await send(lastIds[name]))[0]!, 'id');
  return cursor;
};

/** Returns the time of the first row that is not counted, in Unix milliseconds; `null` if all are. */
export const readUncountedMs = async (
  { cursor, firstTimes }: ResultsStatements,
  send: Send<SqlRow[] | Promise<SqlRow[]>>,
): Promise<number | null> => {
  const times: number[] = [];
  for (const statement of firstTimes(toCursor((await send(cursor()))[0])))
    times.push(...(await send(statement)).map((row) => readMs(row, 'at')));
  return times.length === 0 ? null : Math.min(...times);
};

export const SQLITE_RESULTS = createResultsStatements(SQLITE);
export const POSTGRES_RESULTS = createResultsStatements(POSTGRES);
