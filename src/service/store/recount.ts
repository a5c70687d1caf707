import { MAX_PRICE } from '../../protocol/index.ts';
import type { RunSql, SqlRow } from '../operators/index.ts';
import type { Dialect } from './dialect.ts';

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

const ofType = (type: string) => `count(*) FILTER (WHERE event_type = '${type}')`;
const usersWith = (events: string) => `count(*) FILTER (WHERE ${events} > 0)`;

/** Counts all banner events of a workspace anew. A user is of the variant of their first impression, with all that they did. */
export const recountStatement = ({ earlier }: Pick<Dialect, 'earlier'>): string => `
  WITH seen AS (
    SELECT user_id, campaign_id, coalesce(variant_id, '') AS variant_id, event_type, day, placement_id, language,
      ${earlier('time', 'received_at')} AS happened
    FROM banner_events WHERE workspace_id = $1 AND NOT is_test_send
  ), ordered AS (
    SELECT user_id, campaign_id, variant_id,
      row_number() OVER (PARTITION BY user_id, campaign_id ORDER BY happened, variant_id) AS place
    FROM seen WHERE event_type = 'impression'
  ), parts AS (
    SELECT user_id, campaign_id, event_type, '' AS part FROM seen
    UNION ALL SELECT user_id, campaign_id, event_type, 'day:' || day FROM seen
    UNION ALL SELECT user_id, campaign_id, event_type, 'placement:' || placement_id FROM seen
    UNION ALL SELECT user_id, campaign_id, event_type, 'language:' || language FROM seen WHERE language IS NOT NULL
  ), users_parts AS (
    SELECT user_id, campaign_id, ordered.variant_id, part, ${ofType('impression')} AS impressions,
      ${ofType('click')} AS clicks, ${ofType('dismiss')} AS dismissals
    FROM parts JOIN ordered USING (user_id, campaign_id) WHERE place = 1
    GROUP BY user_id, campaign_id, ordered.variant_id, part
  )
  SELECT campaign_id, variant_id, part, sum(impressions) AS impressions, sum(clicks) AS clicks,
    sum(dismissals) AS dismissals, ${usersWith('impressions')} AS exposed, ${usersWith('clicks')} AS clicked,
    ${usersWith('dismissals')} AS dismissed
  FROM users_parts GROUP BY campaign_id, variant_id, part`;

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
    (JSON.parse(row['goals'] as string) as string[]).map((part) => ({
      campaign_id: row['campaign_id'] as string,
      part,
    })),
  );
  const kept = (await run(KEPT_GOALS, [workspaceId])).filter((row) =>
    goals.some(({ campaign_id, part }) => campaign_id === row['campaign_id'] && part === row['part']),
  );
  const counted: SqlRow[] = [];
  for (const { campaign_id, part } of goals) {
    const [, withinMs, kind, name] = /^(\d+) (event|product):(.*)$/s.exec(part)!;
    const values = [workspaceId, campaign_id, name!, Number(withinMs)];
    const rows = await run(goalStatement(kind === 'event', dialect), values);
    counted.push(...rows.map((row) => ({ ...row, campaign_id, part })));
  }
  return { kept, counted };
};

const GOAL_COUNTS = ['converted', 'revenue', 'squares'];

/** Sums of what was spent are rounded in another order. */
const isAlike = (one: number, other: number) =>
  Math.abs(one - other) <= 1e-9 * Math.max(Math.abs(one), Math.abs(other));

const compare = (
  kept: readonly SqlRow[],
  counted: readonly SqlRow[],
  counts: readonly string[],
  prefix = '',
): CountDifference[] => {
  const byName = (rows: readonly SqlRow[]) =>
    new Map(
      rows.map((row) => [
        JSON.stringify([row['campaign_id'], row['variant_id'], row['part']]),
        counts.map((name) => Number(row[name])),
      ]),
    );
  const [mine, theirs] = [byName(kept), byName(counted)];
  const none = counts.map(() => 0);
  return [...new Set([...mine.keys(), ...theirs.keys()])].sort().flatMap((name) => {
    const [one, other] = [mine.get(name) ?? none, theirs.get(name) ?? none];
    if (one.every((count, index) => isAlike(count, other[index]!))) return [];
    const [campaignId, variantId, part] = JSON.parse(name) as [string, string, string];
    return [
      { campaignId, variantId: variantId || null, part: `${prefix}${part}`, kept: one, counted: other },
    ];
  });
};

/**
 * Compares the counts that are kept of a workspace's campaigns with their banner events, and those of goals that are all counted
 * with all events. Reads all of these.
 */
export const recount = async (
  run: RunSql,
  dialect: Dialect,
  workspaceId: string,
): Promise<CountDifference[]> => {
  const goals = await readGoals(run, dialect, workspaceId);
  return [
    ...compare(await run(KEPT, [workspaceId]), await run(recountStatement(dialect), [workspaceId]), COUNTS),
    ...compare(goals.kept, goals.counted, GOAL_COUNTS, 'goal:'),
  ];
};
