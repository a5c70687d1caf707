import { MAX_PRICE } from '../../protocol/index.ts';
import type { RunSql } from '../operators/index.ts';
import type { Conversion, Goal, ResultsQuestion } from './results.ts';

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

/**
 * Finds the users of a campaign who did what a conversion names within its time, by variant. Its values: `$1` the workspace, `$2`
 * the campaign, `$3` the name of the event or the ID of the product, `$4` the time in milliseconds, `$5` the campaign's first
 * impression in Unix milliseconds: what happened after it was received after it, which the index knows. In the order of users
 * the look-ups meet each page once, and the groups need no sorting. A price that is out of bounds, which was stored before there
 * were any, counts as none: no value makes results fail.
 */
const goalStatement = (conversion: Conversion, { as, join, start, end }: Dialect) => `
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
    FROM done ${join} user_campaigns USING (user_id)
    WHERE workspace_id = $1 AND campaign_id = $2 AND impressions > 0 AND time BETWEEN first_impression_at AND ${end}
    GROUP BY user_id
  ) AS reached GROUP BY variant_id`;

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
    for (const row of await run(goalStatement(conversion, dialect), values)) {
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
