import { MAX_PRICE } from '../../protocol/index.ts';
import { numberIn, type RunSql, type SqlRow, textIn } from '../operators/index.ts';
import {
  addEvent,
  type CampaignCount,
  type CampaignState,
  countedAs,
  createCounts,
} from './campaign-state.ts';
import { type Dialect, selected } from './dialect.ts';
import { goalsOf } from './goals.ts';
import { BANNER_EVENTS, newBannerEventOf } from './rows.ts';

/** A count of a campaign's results that is not what its banner events add up to. */
export interface CountDifference {
  campaignId: string;
  /** `null` of the control group. */
  variantId: string | null;
  /** `''` of all, else `day:2026-03-01`, `placement:home_hero`, `language:pt-BR`, or a goal such as `goal:86400000 event:signed_up`. */
  part: string;
  /** Impressions, clicks, dismissals, and the users who had at least one of each. Of a goal: users, revenue, sum of squares. */
  kept: number[];
  counted: number[];
}

const COUNTS = ['impressions', 'clicks', 'dismissals', 'exposed', 'clicked', 'dismissed'];

/**
 * All banner events of a workspace, user by user: an index by workspace would have the database look up and sort each of them, so
 * that this one is kept from it.
 */
export const eventsByUser = (dialect: Dialect): string => `
  SELECT ${selected(dialect, BANNER_EVENTS)} FROM banner_events
  WHERE workspace_id || '' = $1 AND NOT is_test_send ORDER BY user_id`;

/** Counts banner events from the beginning. Those of one user follow each other. */
export const countEvents = async (
  rows: Iterable<SqlRow> | AsyncIterable<SqlRow>,
  workspaceId: string,
): Promise<CampaignCount[]> => {
  const counts = createCounts();
  let userId = 0;
  const states = new Map<string, CampaignState>();
  const finish = () => {
    for (const state of states.values()) counts.add({ workspaceId, state });
    states.clear();
  };
  for await (const row of rows) {
    const event = newBannerEventOf(row);
    if (numberIn(row, 'user_id') !== userId) finish();
    userId = numberIn(row, 'user_id');
    for (const each of countedAs(event))
      states.set(each.campaignId, addEvent(states.get(each.campaignId) ?? null, each));
  }
  finish();
  return counts.rows().campaigns;
};

const KEPT = `SELECT campaign_id, variant_id, part, ${COUNTS.map((name) => `sum(${name}) AS ${name}`).join(', ')}
  FROM campaign_counts WHERE workspace_id = $1 GROUP BY campaign_id, variant_id, part`;

const KEPT_GOALS = `SELECT campaign_id, variant_id, goal AS part, sum(converted) AS converted, sum(revenue) AS revenue,
    sum(squares) AS squares
  FROM goal_counts WHERE workspace_id = $1 GROUP BY campaign_id, variant_id, goal`;

const GOALS = 'SELECT campaign_id, goals FROM campaign_goals WHERE workspace_id = $1 AND counted_to IS NULL';

/**
 * Counts the users of a campaign, by variant, who reached a goal, from all events. Its values: `$1` the workspace, `$2` the
 * campaign, `$3` the name of the event or the ID of the product, `$4` the time after the first impression in milliseconds.
 */
const goalStatement = (isEvent: boolean, { after }: Dialect): string => `
  SELECT coalesce(variant_id, '') AS variant_id, count(*) AS converted, sum(spent) AS revenue, sum(spent * spent) AS squares
  FROM (
    SELECT user_id, min(variant_id) AS variant_id,
      coalesce(sum(CASE WHEN abs(price) <= ${MAX_PRICE} THEN price * quantity ELSE 0 END), 0) AS spent
    FROM user_campaigns JOIN events USING (user_id)
    WHERE user_campaigns.workspace_id = $1 AND campaign_id = $2 AND impressions > 0
      AND ${isEvent ? 'name = $3 AND product_id IS NULL' : 'product_id = $3'}
      AND time BETWEEN first_impression_at AND ${after('first_impression_at', '$4')}
    GROUP BY user_id
  ) AS reached GROUP BY 1`;

/** Kept and counted anew, of those goals that all users are counted for. */
const readGoals = async (run: RunSql, dialect: Dialect, workspaceId: string) => {
  const goals = (await run(GOALS, [workspaceId])).flatMap((row) =>
    goalsOf(row).map(({ goal, ...each }) => ({
      ...each,
      campaign_id: textIn(row, 'campaign_id'),
      part: goal,
    })),
  );
  const kept = (await run(KEPT_GOALS, [workspaceId])).filter((row) =>
    goals.some(({ campaign_id, part }) => campaign_id === row['campaign_id'] && part === row['part']),
  );
  const counted: SqlRow[] = [];
  for (const { campaign_id, part, isEvent, value, withinMs } of goals) {
    const values = [workspaceId, campaign_id, value, withinMs];
    const rows = await run(goalStatement(isEvent, dialect), values);
    counted.push(...rows.map((row) => ({ ...row, campaign_id, part })));
  }
  return { kept, counted };
};

const GOAL_COUNTS = ['converted', 'revenue', 'squares'];

/** Rows of counts by campaign, variant and part. */
const byName = (rows: readonly SqlRow[]): Map<string, SqlRow> =>
  new Map(rows.map((row) => [JSON.stringify([row['campaign_id'], row['variant_id'], row['part']]), row]));

/** Sums of what was spent are rounded in another order. */
const isAlike = (one: number, other: number) =>
  Math.abs(one - other) <= 1e-9 * Math.max(Math.abs(one), Math.abs(other));

/** Where rows that are kept have other counts than those that were counted. A row that is missing has none of anything. */
const compare = (
  keptRows: readonly SqlRow[],
  countedRows: readonly SqlRow[],
  columns: readonly string[],
  prefix = '',
): CountDifference[] => {
  const [kept, counted] = [byName(keptRows), byName(countedRows)];
  const countsOf = (row: SqlRow | undefined) => columns.map((column) => (row ? numberIn(row, column) : 0));
  return [...new Map([...kept, ...counted])].sort(byKey).flatMap(([name, row]) => {
    const [one, other] = [countsOf(kept.get(name)), countsOf(counted.get(name))];
    if (one.every((count, index) => isAlike(count, other[index]!))) return [];
    return [
      {
        campaignId: textIn(row, 'campaign_id'),
        variantId: textIn(row, 'variant_id') || null,
        part: `${prefix}${textIn(row, 'part')}`,
        kept: one,
        counted: other,
      },
    ];
  });
};

const byKey = ([one]: [string, SqlRow], [other]: [string, SqlRow]) => (one < other ? -1 : 1);

/**
 * Compares the counts that are kept of a workspace's campaigns with their banner events, and those of goals that are all counted
 * with all events. Reads all of these, for a million of each some ten seconds.
 */
export const recount = async (
  run: RunSql,
  readAll: (sql: string, workspaceId: string) => Iterable<SqlRow> | AsyncIterable<SqlRow>,
  dialect: Dialect,
  workspaceId: string,
): Promise<CountDifference[]> => {
  const goals = await readGoals(run, dialect, workspaceId);
  const kept = await run(KEPT, [workspaceId]);
  const counted = await countEvents(readAll(eventsByUser(dialect), workspaceId), workspaceId);
  const rows = counted.map(({ campaignId, variantId, part, ...counts }): SqlRow => {
    return { campaign_id: campaignId, variant_id: variantId, part, ...counts };
  });
  return [...compare(kept, rows, COUNTS), ...compare(goals.kept, goals.counted, GOAL_COUNTS, 'goal:')];
};
