import { MEASURES } from '../profiles/measures.ts';
import {
  readJson,
  readNumber,
  readText,
  readTextOrNull,
  type SqlRow,
  type SqlValue,
} from '../row-readers.ts';
import { type Column, columns, readMs, readMsOrNull } from '../sql/columns.ts';
import {
  type BulkStatement,
  type Dialect,
  POSTGRES,
  query,
  type Send,
  SQLITE,
  selectList,
} from '../sql/dialect.ts';
import type { RowOf } from '../sql/table.ts';
import type { USER_CHANGES } from '../sql/user-tables.ts';
import { createWrites } from '../sql/writes.ts';
import type { CampaignCount, GoalCount } from './counts.ts';
import { createEventCountStatements } from './event-counts.ts';
import type { CampaignGoal, TotalsByGoal } from './goals.ts';
import type { RowCounts } from './user-result.ts';

/** Position in the feed, as the last ID of each table. */
export interface FeedCursor {
  events: number;
  bannerEvents: number;
  userChanges: number;
}

export interface ResultsCursor extends FeedCursor {
  /** IDs of later changes of users that are already applied. */
  appliedChangeIds: number[];
  /** Receipt of the last banner event, in Unix milliseconds. */
  lastReceivedMs: number;
}

const CONSUMER = 'results';

const CURSOR = columns<ResultsCursor>({
  consumer: ['text', () => CONSUMER],
  events: ['bigint', ({ events }) => events],
  banner_events: ['bigint', ({ bannerEvents }) => bannerEvents],
  user_changes: ['bigint', ({ userChanges }) => userChanges],
  applied_change_ids: ['json', ({ appliedChangeIds }) => appliedChangeIds],
  last_received_at: ['timestamp', ({ lastReceivedMs }) => lastReceivedMs],
});

export const toCursor = (row: SqlRow | undefined): ResultsCursor =>
  row
    ? {
        events: readNumber(row, 'events'),
        bannerEvents: readNumber(row, 'banner_events'),
        userChanges: readNumber(row, 'user_changes'),
        appliedChangeIds: readJson(row, 'applied_change_ids'),
        lastReceivedMs: readMs(row, 'last_received_at'),
      }
    : { events: 0, bannerEvents: 0, userChanges: 0, appliedChangeIds: [], lastReceivedMs: 0 };

/** Row of `user_results`. */
export interface UserResultRow {
  userId: number;
  campaignId: string;
  month: string;
  workspaceId: string;
  counts: RowCounts;
  variantId: string | null;
  firstImpressionMs: number | null;
  goals: TotalsByGoal;
  prunedGoals: TotalsByGoal;
}

const NO_GOALS: TotalsByGoal = {};

const readTotals = (row: SqlRow, column: string): TotalsByGoal =>
  readJson<TotalsByGoal | null>(row, column) ?? NO_GOALS;

/** Stores `NULL` if there are no goals. */
const formatTotals = (totals: TotalsByGoal): TotalsByGoal | null =>
  Object.keys(totals).length === 0 ? null : totals;

const USER_RESULTS = columns<UserResultRow>({
  user_id: ['bigint', ({ userId }) => userId],
  campaign_id: ['text', ({ campaignId }) => campaignId],
  month: ['text', ({ month }) => month],
  workspace_id: ['text', ({ workspaceId }) => workspaceId],
  counts: ['json', ({ counts }) => counts],
  variant_id: ['text', ({ variantId }) => variantId],
  first_impression_at: ['timestamp', ({ firstImpressionMs }) => firstImpressionMs],
  goals: ['json', ({ goals }) => formatTotals(goals)],
  pruned_goals: ['json', ({ prunedGoals }) => formatTotals(prunedGoals)],
});

export const toUserResultRow = (row: SqlRow): UserResultRow => ({
  userId: readNumber(row, 'user_id'),
  campaignId: readText(row, 'campaign_id'),
  month: readText(row, 'month'),
  workspaceId: readText(row, 'workspace_id'),
  counts: readJson(row, 'counts'),
  variantId: readTextOrNull(row, 'variant_id'),
  firstImpressionMs: readMsOrNull(row, 'first_impression_at'),
  goals: readTotals(row, 'goals'),
  prunedGoals: readTotals(row, 'pruned_goals'),
});

/** User and campaign of rows of `user_results`. */
export type ResultKey = Pick<UserResultRow, 'userId' | 'campaignId'>;

const CAMPAIGN_COUNTS: Column<CampaignCount>[] = [
  ...columns<CampaignCount>({
    workspace_id: ['text', ({ workspaceId }) => workspaceId],
    campaign_id: ['text', ({ campaignId }) => campaignId],
    variant_id: ['text', ({ variantId }) => variantId],
    dimension: ['text', ({ dimension }) => dimension],
  }),
  ...MEASURES.flatMap((measure, index) =>
    columns<CampaignCount>({
      [measure.events]: ['bigint', ({ events }) => events[index]!],
      [measure.users]: ['bigint', ({ users }) => users[index]!],
    }),
  ),
];

const GOAL_COUNTS = columns<GoalCount>({
  workspace_id: ['text', ({ workspaceId }) => workspaceId],
  campaign_id: ['text', ({ campaignId }) => campaignId],
  variant_id: ['text', ({ variantId }) => variantId],
  goal: ['text', ({ goal }) => goal],
  day: ['text', ({ day }) => day],
  currencies: ['text', ({ currencies }) => currencies],
  converted_users: ['bigint', ({ convertedUsers }) => convertedUsers],
  revenue: ['float8', ({ revenue }) => revenue],
  revenue_sum_of_squares: ['float8', ({ revenueSumOfSquares }) => revenueSumOfSquares],
});

type NewGoal = Pick<CampaignGoal, 'workspaceId' | 'campaignId' | 'goal' | 'addedAfter'> & {
  timeZone: string;
};

const CAMPAIGN_GOALS = columns<NewGoal>({
  workspace_id: ['text', ({ workspaceId }) => workspaceId],
  campaign_id: ['text', ({ campaignId }) => campaignId],
  goal: ['text', ({ goal }) => goal],
  time_zone: ['text', ({ timeZone }) => timeZone],
  added_after: ['bigint', ({ addedAfter }) => addedAfter],
  backfilled_through: ['bigint', () => 0],
});

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

const EVENTS_SINCE = columns<EventsSince>({
  of_user: ['bigint', ({ userId }) => userId],
  since: ['timestamp', ({ sinceMs }) => sinceMs],
});

const RESULT_KEYS = columns<ResultKey>({
  key_user: ['bigint', ({ userId }) => userId],
  key_campaign: ['text', ({ campaignId }) => campaignId],
});

/** Tables of the feed, with the ID column that gives the commit order. */
const FEED_IDS: Record<string, string> = {
  events: 'event_id',
  banner_events: 'banner_event_id',
  user_changes: 'change_id',
};

export const createResultsStatements = (dialect: Dialect) => {
  const { bulkQuery, indexUserEvents, isIn, list, timestamp, ms, ofUser, returnedMs } = dialect;
  const { add, insert, upsert } = createWrites(dialect);
  const defineQuery =
    (sql: string) =>
    (...values: SqlValue[]): BulkStatement =>
      query(sql, ...values);
  const results = `SELECT ${selectList(dialect, USER_RESULTS)} FROM user_results`;
  const conversionColumns = (occurredAt: string) =>
    `event_id, user_id, workspace_id, name, product_id, ${occurredAt} AS occurred_at, price, quantity, currency`;
  const conversionEvents = `SELECT ${conversionColumns(ms('occurred_at'))} FROM events`;
  const eventsSince = bulkQuery(
    EVENTS_SINCE,
    ({ joined, column, more }) =>
      `${conversionEvents} ${joined(',')} WHERE ${ofUser(`= ${column('of_user')}`)} AND occurred_at >= ${column('since')}
         AND event_id <= ${more(0)} AND ${isIn('coalesce(product_id, name)', more(1), 'text')}`,
  );
  const resultsOfKeys = (months: string) =>
    bulkQuery(
      RESULT_KEYS,
      ({ joined, column }) =>
        `${results} ${joined(',')} WHERE user_id = ${column('key_user')} AND campaign_id = ${column('key_campaign')} AND month ${months}`,
    );
  const ofUsers = isIn('user_id', '$1', 'bigint');
  const lastId = (table: string) => query(`SELECT coalesce(max(${FEED_IDS[table]}), 0) AS id FROM ${table}`);

  return {
    cursor: defineQuery(
      `SELECT ${selectList(dialect, CURSOR)} FROM feed_cursors WHERE consumer = '${CONSUMER}'`,
    ),
    writeCursor: (cursor: ResultsCursor): BulkStatement =>
      upsert('feed_cursors', CURSOR, 'consumer')([cursor]),
    /**
     * Returns the last ID of each table of the feed. Uses separate statements, because a cluster rejects a combined statement.
     */
    lastIds: [lastId('events'), lastId('banner_events'), lastId('user_changes')] as const,
    goals: defineQuery('SELECT * FROM campaign_goals'),
    /** Adds goals, or changes the time zone of existing ones. */
    addGoals: insert(
      'campaign_goals',
      CAMPAIGN_GOALS,
      ' ON CONFLICT (workspace_id, campaign_id, goal) DO UPDATE SET time_zone = excluded.time_zone',
    ),
    /** Moves the backfill of goals from `from` to `through`. */
    setBackfilled: defineQuery(
      'UPDATE campaign_goals SET backfilled_through = $2 WHERE backfilled_through = $1 AND added_after > $1',
    ),

    userChanges: defineQuery(
      `SELECT change_id, workspace_id, user_id, kind, into_user_id, banner_event, ${ms('changed_at')} AS changed_at FROM user_changes
       WHERE change_id > $1 ORDER BY change_id LIMIT $2`,
    ),
    bannerEvents: defineQuery(
      `SELECT banner_event_id, workspace_id, user_id, campaign_id, holdout_id, event_type, variant_id,
         day, placement_id, language, ${ms('occurred_at')} AS occurred_at, ${ms('received_at')} AS received_at
       FROM banner_events WHERE banner_event_id > $1 AND banner_event_id <= $2 AND NOT is_test_send ORDER BY banner_event_id LIMIT $3`,
    ),
    conversionEvents: (
      after: number,
      through: number,
      values: readonly string[],
      limit: number,
    ): BulkStatement =>
      query(
        `${conversionEvents} WHERE event_id > $1 AND event_id <= $2 AND ${isIn('coalesce(product_id, name)', '$3', 'text')}
         ORDER BY event_id LIMIT $4`,
        after,
        through,
        list(values),
        limit,
      ),
    /** Deletes events, and returns the deleted rows. */
    deleteEvents: ({ workspaceId, after, through, beforeMs }: EventRange): BulkStatement =>
      query(
        `DELETE FROM events WHERE event_id > $1 AND event_id <= $2 AND workspace_id = $3 AND received_at < ${timestamp('$4')}
         RETURNING ${conversionColumns(returnedMs('occurred_at'))}`,
        after,
        through,
        workspaceId,
        beforeMs,
      ),
    indexUserEvents,
    /** Must run after `indexUserEvents`. */
    conversionEventsOf: (
      users: readonly EventsSince[],
      values: readonly string[],
      through: number,
    ): BulkStatement => eventsSince(users, through, list(values)),

    /** Returns results of users, except the days of earlier months. */
    totals: (users: readonly number[]): BulkStatement =>
      query(`${results} WHERE ${ofUsers} AND month = ''`, list(users)),
    resultsOfUsers: (users: readonly number[]): BulkStatement =>
      query(`${results} WHERE ${ofUsers}`, list(users)),
    /** Returns results of users and campaigns, except the days of earlier months. */
    totalsOfKeys: resultsOfKeys("= ''"),
    /** Returns the days of earlier months. */
    earlierMonths: resultsOfKeys("<> ''"),
    deleteUserResults: (users: readonly number[]): BulkStatement =>
      query(`DELETE FROM user_results WHERE ${ofUsers}`, list(users)),
    writeUserResults: upsert('user_results', USER_RESULTS, 'user_id, campaign_id, month'),
    addCampaignCounts: add(
      'campaign_counts',
      CAMPAIGN_COUNTS,
      'workspace_id, campaign_id, variant_id, dimension',
    ),
    addGoalCounts: add(
      'goal_counts',
      GOAL_COUNTS,
      'workspace_id, campaign_id, variant_id, goal, day, currencies',
    ),
    ...createEventCountStatements(dialect),
  };
};

export type ResultsStatements = ReturnType<typeof createResultsStatements>;

/** Returns the cursor of the last visible rows of the feed. */
export const readLastIds = async (
  { lastIds }: ResultsStatements,
  send: Send<SqlRow[] | Promise<SqlRow[]>>,
): Promise<FeedCursor> => {
  const [lastEvent, lastBannerEvent, lastUserChange] = lastIds;
  const readId = async (statement: BulkStatement) => readNumber((await send(statement))[0]!, 'id');
  return {
    events: await readId(lastEvent),
    bannerEvents: await readId(lastBannerEvent),
    userChanges: await readId(lastUserChange),
  };
};

export const SQLITE_RESULTS = createResultsStatements(SQLITE);
export const POSTGRES_RESULTS = createResultsStatements(POSTGRES);
