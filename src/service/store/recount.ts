import type { RunSql } from '../operators/index.ts';

/** A count of a campaign's results that is not what its banner events add up to. */
export interface CountDifference {
  campaignId: string;
  /** `null` of the control group. */
  variantId: string | null;
  /** `''` of all, else `day:2026-03-01`, `placement:home_hero` or `language:pt-BR`. */
  part: string;
  /** Impressions, clicks, dismissals, and the users who had at least one of each. */
  kept: number[];
  counted: number[];
}

const COUNTS = ['impressions', 'clicks', 'dismissals', 'exposed', 'clicked', 'dismissed'];

const ofType = (type: string) => `count(*) FILTER (WHERE event_type = '${type}')`;
const usersWith = (events: string) => `count(*) FILTER (WHERE ${events} > 0)`;

/**
 * Counts all banner events of a workspace anew. `earlier` makes the earlier of two moments. A user is of the variant of their first
 * impression, with all that they did.
 */
export const recountStatement = (earlier: string): string => `
  WITH seen AS (
    SELECT user_id, campaign_id, coalesce(variant_id, '') AS variant_id, event_type, day, placement_id, language,
      ${earlier}(time, received_at) AS happened
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

/** Compares the counts that are kept of a workspace's campaigns with their banner events. Reads all of these. */
export const recount = async (
  run: RunSql,
  earlier: string,
  workspaceId: string,
): Promise<CountDifference[]> => {
  const read = async (sql: string) =>
    new Map(
      (await run(sql, [workspaceId])).map((row) => [
        JSON.stringify([row['campaign_id'], row['variant_id'], row['part']]),
        COUNTS.map((name) => Number(row[name])),
      ]),
    );
  const [kept, counted] = [await read(KEPT), await read(recountStatement(earlier))];
  const none = COUNTS.map(() => 0);
  return [...new Set([...kept.keys(), ...counted.keys()])].sort().flatMap((name) => {
    const [mine, theirs] = [kept.get(name) ?? none, counted.get(name) ?? none];
    if (mine.every((count, index) => count === theirs[index])) return [];
    const [campaignId, variantId, part] = JSON.parse(name) as [string, string, string];
    return [{ campaignId, variantId: variantId || null, part, kept: mine, counted: theirs }];
  });
};
