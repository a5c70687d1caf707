import type { RunSql } from '../operators/index.ts';
import type { Row } from './from-row.ts';
import type { Conversion, Goal, ResultsQuestion } from './results.ts';

/** What the two databases write differently. */
interface Dialect {
  as: string;
  join: string;
  start: string;
  end: string;
}

/**
 * Finds the users of a campaign who did what a conversion names within its time, by variant. Its values: `$1` the workspace, `$2`
 * the campaign, `$3` the name of the event or the ID of the product, `$4` the time in milliseconds, `$5` the campaign's first
 * impression in Unix milliseconds: what happened after it was received after it, which the index knows. In the order of users
 * the look-ups meet each page once, and the groups need no sorting.
 */
const goalStatement = (conversion: Conversion, { as, join, start, end }: Dialect) => `
  WITH done ${as} (
    SELECT user_id, time, price * quantity AS price, currency FROM events
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

/** Counts what came of each conversion since `startMs`: the goals of each variant, and the currencies of all. */
export const countGoals = async (
  run: RunSql,
  dialect: Dialect,
  workspaceId: string,
  { campaignId, conversions }: ResultsQuestion,
  startMs: number,
) => {
  const found: Row[][] = [];
  for (const conversion of conversions) {
    const name = 'event' in conversion ? conversion.event : conversion.product;
    const values = [workspaceId, campaignId, name, conversion.withinMs, startMs];
    found.push(await run(goalStatement(conversion, dialect), values));
  }
  return {
    currencies: [...new Set(found.flat().flatMap(({ lowest, highest }) => [lowest, highest]))]
      .filter((currency): currency is string => typeof currency === 'string')
      .sort(),
    of: (variantId: string | null): Goal[] =>
      found.map((rows) => {
        const row = rows.find((each) => each['variant_id'] === variantId);
        return {
          converted: Number(row?.['converted'] ?? 0),
          revenue: Number(row?.['revenue'] ?? 0),
          revenueSquares: Number(row?.['squares'] ?? 0),
        };
      }),
  };
};
