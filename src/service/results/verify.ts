import { setTimeout as pause } from 'node:timers/promises';
import { MEASURES } from '../measures.ts';
import { withHoldoutAttribution } from '../profiles/holdout-id.ts';
import { readMsOrNull } from '../sql/columns.ts';
import { type Dialect, selectList } from '../sql/dialect.ts';
import { type RunSql, readNumber, readText, readTextOrNull, type SqlRow } from '../sql/row-readers.ts';
import { COUNTED_COLUMNS, type CountedEvent, toCountedEvent } from './counted-event.ts';
import { type CampaignCount, createCountDeltas } from './counts.ts';
import { isBackfilled, toGoal } from './goals.ts';
import { createResultsStatements, toCursor } from './statements.ts';
import {
  addUserResultEvent,
  createUserResult,
  type UserResult,
  updateFirstImpression,
} from './user-result.ts';

/** Count in a campaign's results that differs from the events. */
export interface ResultsDifference {
  campaignId: string;
  /** ID of the variant; `null` for the control group. */
  variantId: string | null;
  /**
   * Dimension: `''` for the total, or for example `day:2026-03-01`, `placement:home_hero`, `language:pt-BR` or `goal:86400000
   * event:subscribed`.
   */
  dimension: string;
  /** Numbers of events and users of each measure. For a goal: users, revenue, sum of squares. */
  stored: number[];
  counted: number[];
}

/**
 * Whether the stored count is certainly wrong. A higher count may be correct, because retention deletes events but keeps counts.
 * Does not compare revenue, because a refund is negative.
 */
export const isTooLow = ({ dimension, stored, counted }: ResultsDifference): boolean =>
  dimension.startsWith(GOAL)
    ? counted[0]! > stored[0]!
    : counted.some((count, index) => count > stored[index]!);

/** Prefix of the dimension of a goal. */
const GOAL = 'goal:';
const COUNTS = MEASURES.flatMap(({ events, usersColumn }) => [events, usersColumn]);

/** Returns a join with the first impression of a user, which retention may have deleted. */
const firstImpression = (campaign: string, as: string, { ms }: Dialect) => ({
  columns: `${as}.variant_id AS ${as}_variant, ${ms(`${as}.first_impression_at`)} AS ${as}_at`,
  join: `LEFT JOIN user_results AS ${as} ON ${as}.user_id = banner_events.user_id AND ${as}.campaign_id = ${campaign} AND ${as}.month = ''`,
});

/**
 * Returns a query of all banner events of a workspace that the results have read, grouped by user. Prevents the use of an index
 * by workspace, with which the database would look up and sort each event.
 */
export const eventsByUser = (dialect: Dialect): string => {
  const first = firstImpression('banner_events.campaign_id', 'first', dialect);
  const ofHoldout = firstImpression('banner_events.holdout_id', 'of_holdout', dialect);
  return `
  SELECT ${selectList(dialect, COUNTED_COLUMNS, 'banner_events')}, ${first.columns}, ${ofHoldout.columns}
  FROM banner_events ${first.join} ${ofHoldout.join}
  WHERE banner_events.workspace_id || '' = $1 AND banner_event_id <= CAST($2 AS bigint) AND NOT is_test_send ORDER BY banner_events.user_id`;
};

const readFirstImpression = (row: SqlRow, as: 'first' | 'of_holdout') => ({
  variantId: readTextOrNull(row, `${as}_variant`),
  firstImpressionMs: readMsOrNull(row, `${as}_at`),
});

/** Counts banner events from the first row. Expects rows that are grouped by user. */
export const countEvents = async (
  rows: Iterable<SqlRow> | AsyncIterable<SqlRow>,
  workspaceId: string,
): Promise<CampaignCount[]> => {
  const counts = createCountDeltas();
  let userId = 0;
  const results = new Map<string, UserResult>();
  const finish = () => {
    for (const result of results.values()) counts.change(workspaceId, result);
    results.clear();
  };
  for await (const row of rows) {
    const event = toCountedEvent(row);
    if (event.userId !== userId) finish();
    ({ userId } = event);
    for (const each of withHoldoutAttribution<CountedEvent>(event)) {
      const { campaignId, variantId, atMs, eventType } = each;
      let result = results.get(campaignId);
      if (!result) {
        result = createUserResult(campaignId);
        updateFirstImpression(result, readFirstImpression(row, each === event ? 'first' : 'of_holdout'));
        results.set(campaignId, result);
      }
      if (eventType === 'impression') updateFirstImpression(result, { variantId, firstImpressionMs: atMs });
      addUserResultEvent(result, each, 1);
    }
  }
  finish();
  return counts.campaigns();
};

const STORED = `SELECT * FROM campaign_counts WHERE workspace_id = $1`;
const GOAL_COUNTS = ['converted_users', 'revenue', 'revenue_sum_of_squares'];
const STORED_GOALS = `SELECT campaign_id, variant_id, goal AS dimension, ${GOAL_COUNTS.map((name) => `sum(${name}) AS ${name}`).join(', ')}
  FROM goal_counts WHERE workspace_id = $1 GROUP BY campaign_id, variant_id, goal`;

/**
 * Returns a query that counts the users of a campaign who reached a goal, by variant, from all events. Parameters: `$1`
 * workspace, `$2` campaign, `$3` event name or product ID, `$4` time after the first impression in milliseconds, `$5` last event.
 */
const goalStatement = (isEvent: boolean, { after }: Dialect): string => `
  SELECT coalesce(variant_id, '') AS variant_id, count(*) AS converted_users, sum(spent) AS revenue, sum(spent * spent) AS revenue_sum_of_squares
  FROM (
    SELECT user_id, min(variant_id) AS variant_id,
      coalesce(sum(price * quantity), 0) AS spent
    FROM user_results JOIN events USING (user_id)
    WHERE user_results.workspace_id = $1 AND campaign_id = $2 AND month = '' AND first_impression_at IS NOT NULL
      AND ${isEvent ? 'name = $3 AND product_id IS NULL' : 'product_id = $3'} AND event_id <= $5
      AND occurred_at BETWEEN first_impression_at AND ${after('first_impression_at', '$4')}
    GROUP BY user_id
  ) AS reached GROUP BY 1`;

/** Whether two sums are equal, except for rounding, because revenue is added in a different order. */
const isAlike = (one: number, other: number) =>
  Math.abs(one - other) <= 1e-9 * Math.max(Math.abs(one), Math.abs(other));

const byKey = (rows: readonly SqlRow[]): Map<string, SqlRow> =>
  new Map(
    rows.map((row) => [JSON.stringify([row['campaign_id'], row['variant_id'], row['dimension']]), row]),
  );

/** Compares stored with counted rows. A missing row counts as zeros. */
const compare = (
  storedRows: readonly SqlRow[],
  countedRows: readonly SqlRow[],
  columns: readonly string[],
  prefix = '',
): ResultsDifference[] => {
  const [stored, counted] = [byKey(storedRows), byKey(countedRows)];
  const readCounts = (row: SqlRow | undefined) =>
    columns.map((column) => (row ? readNumber(row, column) : 0));
  return [...new Map([...stored, ...counted])]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([key, row]) => {
      const [one, other] = [readCounts(stored.get(key)), readCounts(counted.get(key))];
      if (one.every((count, index) => isAlike(count, other[index]!))) return [];
      return [
        {
          campaignId: readText(row, 'campaign_id'),
          variantId: readText(row, 'variant_id') || null,
          dimension: `${prefix}${readText(row, 'dimension')}`,
          stored: one,
          counted: other,
        },
      ];
    });
};

const RETRY_MS = 100;
/** Maximum wait. The service counts new rows at least every five seconds. */
const WAIT_MS = 15_000;

/** Retries `verifyResults` while it returns `null`. */
export const retryUntilCounted = async (
  verify: () => Promise<ResultsDifference[] | null>,
): Promise<ResultsDifference[]> => {
  const until = performance.now() + WAIT_MS;
  for (;;) {
    const differences = await verify();
    if (differences !== null) return differences;
    if (performance.now() > until)
      throw new Error(
        'The results do not count the latest merges and erasures. Start the service, and run the check again.',
      );
    await pause(RETRY_MS);
  }
};

/**
 * Compares the stored results of a workspace's campaigns with their events, within one snapshot. Returns `null` if the results do
 * not yet count a merge or an erasure, which has changed events that they count. Reads all events, which takes about ten seconds
 * for a million of each kind.
 */
export const verifyResults = async (
  run: RunSql,
  readAll: (sql: string, values: [string, number]) => Iterable<SqlRow> | AsyncIterable<SqlRow>,
  dialect: Dialect,
  workspaceId: string,
): Promise<ResultsDifference[] | null> => {
  const statements = createResultsStatements(dialect);
  const runStatement = async ({ sql, values }: { sql: string; values: Parameters<RunSql>[1] }) =>
    run(sql, values);
  const cursor = toCursor((await runStatement(statements.cursor()))[0]);
  const applied = new Set(cursor.appliedChangeIds);
  const changes = await runStatement(statements.userChanges(cursor.userChanges, applied.size + 1));
  if (changes.some((row) => !applied.has(readNumber(row, 'change_id')))) return null;
  const stored = await run(STORED, [workspaceId]);
  const storedGoals = await run(STORED_GOALS, [workspaceId]);
  const goals = (await runStatement(statements.goals()))
    .map(toGoal)
    .filter((goal) => goal.workspaceId === workspaceId && isBackfilled(goal));
  const countedGoals: SqlRow[] = [];
  for (const { campaignId, goal, isEvent, value, withinMs } of goals) {
    const values = [workspaceId, campaignId, value, withinMs, cursor.events];
    const rows = await run(goalStatement(isEvent, dialect), values);
    countedGoals.push(...rows.map((row) => ({ ...row, campaign_id: campaignId, dimension: goal })));
  }
  const isVerified = (row: SqlRow) =>
    goals.some(({ campaignId, goal }) => campaignId === row['campaign_id'] && goal === row['dimension']);
  const counted = await countEvents(
    readAll(eventsByUser(dialect), [workspaceId, cursor.bannerEvents]),
    workspaceId,
  );
  const rows = counted.map(({ campaignId, variantId, dimension, events, users }): SqlRow => {
    const counts = MEASURES.flatMap((measure, index) => [
      [measure.events, events[index]],
      [measure.usersColumn, users[index]],
    ]);
    return { campaign_id: campaignId, variant_id: variantId, dimension, ...Object.fromEntries(counts) };
  });
  return [
    ...compare(stored, rows, COUNTS),
    ...compare(storedGoals.filter(isVerified), countedGoals, GOAL_COUNTS, GOAL),
  ];
};
