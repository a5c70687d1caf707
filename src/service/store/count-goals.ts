import { MAX_PRICE } from '../../protocol/index.ts';
import type { RunSql } from '../operators/index.ts';
import { HOLDOUT_ID } from '../profiles/events.ts';
import { type ArmResults, type Conversion, countsOf, type Goal, type ResultsQuestion } from './results.ts';

/** What came of a campaign's conversions. */
export interface Goals {
  /** Of purchases: of several the revenue cannot be added up. */
  currencies: string[];
  /** In the order of the conversions; the control group is `null`. */
  byVariant: Map<string | null, Goal[]>;
}

/** What the two databases write differently. */
export interface Dialect {
  as: string;
  join: string;
  start: string;
  end: string;
}

/** What the arm of the holdout is called that gets campaigns. */
const OTHERS = 'campaigns';

/**
 * Finds the users of a campaign who did what a conversion names within its time, by variant. Its values: `$1` the workspace, `$2`
 * the campaign, `$3` the name of the event or the ID of the product, `$4` the time in milliseconds, `$5` the campaign's first
 * impression in Unix milliseconds: what happened after it was received after it, which the index knows. In the order of users
 * the look-ups meet each page once, and the groups need no sorting. A price that is out of bounds, which was stored before there
 * were any, counts as none: no value makes results fail.
 */
const goalStatement = (conversion: Conversion, dialect: Dialect, isHoldout: boolean) => {
  const { as, join, start, end } = dialect;
  return `
  WITH done ${as} (
    SELECT user_id, time, CASE WHEN abs(price) <= ${MAX_PRICE} THEN price * quantity ELSE 0 END AS price, currency FROM events
    WHERE workspace_id = $1 AND received_at >= ${start}
      AND ${'event' in conversion ? 'name = $3 AND product_id IS NULL' : 'name IS NULL AND product_id = $3'}
    ORDER BY user_id
  )
  SELECT variant_id, count(*) AS converted, coalesce(sum(spent), 0) AS revenue,
    coalesce(sum(spent * spent), 0) AS squares, min(lowest) AS lowest, max(highest) AS highest
  FROM (
    SELECT user_id, min(variant_id) AS variant_id, sum(price) AS spent, min(currency) AS lowest, max(currency) AS highest
    FROM done ${join} ${isHoldout ? `(${HOLDOUT(dialect)}) AS seen` : 'user_campaigns'} USING (user_id)
    WHERE ${isHoldout ? '' : 'workspace_id = $1 AND campaign_id = $2 AND impressions > 0 AND '}time BETWEEN first_impression_at AND ${end}
    GROUP BY user_id
  ) AS reached GROUP BY variant_id`;
};

/** Of the holdout: users who are new to campaigns since it began, those held out with no variant. */
const HOLDOUT = ({ start }: Dialect) => `
  SELECT user_id, CASE WHEN max(CASE WHEN campaign_id = $2 THEN 1 ELSE 0 END) = 1 THEN NULL ELSE '${OTHERS}' END AS variant_id,
    min(first_impression_at) AS first_impression_at, sum(impressions) AS impressions, sum(clicks) AS clicks, sum(dismissals) AS dismissals
  FROM user_campaigns WHERE workspace_id = $1 AND impressions > 0
  GROUP BY user_id HAVING min(first_impression_at) >= ${start}`;

const NONE: Goal = { converted: 0, revenue: 0, revenueSquares: 0 };

/** Counts what came of each conversion since `startMs`. Takes as long as there are events of their names: for a thread of its own. */
export const countGoals = async (
  run: RunSql,
  dialect: Dialect,
  workspaceId: string,
  { campaignId, conversions }: ResultsQuestion,
  startMs: number,
): Promise<Goals> => {
  const currencies = new Set<string>();
  const byVariant: Goals['byVariant'] = new Map();
  for (const [index, conversion] of conversions.entries()) {
    const name = 'event' in conversion ? conversion.event : conversion.product;
    const values = [workspaceId, campaignId, name, conversion.withinMs, startMs];
    for (const row of await run(goalStatement(conversion, dialect, campaignId === HOLDOUT_ID), values)) {
      const variantId = row['variant_id'] as string | null;
      const goals = byVariant.get(variantId) ?? conversions.map(() => NONE);
      goals[index] = {
        converted: Number(row['converted']),
        revenue: Number(row['revenue']),
        revenueSquares: Number(row['squares']),
      };
      byVariant.set(variantId, goals);
      for (const currency of [row['lowest'], row['highest']])
        if (typeof currency === 'string') currencies.add(currency);
    }
  }
  return { currencies: [...currencies].sort(), byVariant };
};

/** What came of all campaigns together: users who are new to campaigns since a moment, those held out with no variant. */
export interface HoldoutResults {
  arms: ArmResults[];
  currencies: string[];
}

/** Counts them. Reads every user of the workspace who has seen a campaign: for a thread of its own. */
export const countHoldout = async (
  run: RunSql,
  dialect: Dialect,
  workspaceId: string,
  conversions: readonly Conversion[],
  sinceMs: number,
): Promise<HoldoutResults> => {
  const question = { campaignId: conversions };
  const rows = await run(
    `SELECT variant_id, count(*) AS exposed, sum(impressions) AS impressions, sum(clicks) AS clicks, sum(dismissals) AS dismissals,
       sum(CASE WHEN clicks > 0 THEN 1 ELSE 0 END) AS clicked, sum(CASE WHEN dismissals > 0 THEN 1 ELSE 0 END) AS dismissed
     FROM (${HOLDOUT({ ...dialect, start: dialect.start.replace('$5', '$3') })}) AS seen GROUP BY variant_id ORDER BY variant_id`,
    [workspaceId, sinceMs],
  );
  const { currencies, byVariant } = await countGoals(run, dialect, workspaceId, question, sinceMs);
  return {
    currencies,
    arms: rows.map((row): ArmResults => {
      const variantId = row['variant_id'] as string | null;
      const goals = conversions.map((_, index) => byVariant.get(variantId)?.[index] ?? NONE);
      return { variantId, ...countsOf(row), goals };
    }),
  };
};
