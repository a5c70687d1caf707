import { countGoals } from '../count-goals.ts';
import type { Row } from '../from-row.ts';
import type { CampaignResults, Counts, ResultsQuestion } from '../results.ts';
import { TIME } from './for-rows.ts';
import type { Run } from './statement.ts';

const DIALECT = {
  as: 'AS',
  join: 'JOIN',
  start: TIME('$5'),
  end: "first_impression_at + $4 * interval '1 millisecond'",
};

const ARMS = `SELECT variant_id, sum(impressions) AS impressions, sum(clicks) AS clicks, sum(dismissals) AS dismissals,
    count(*) AS exposed, count(*) FILTER (WHERE clicks > 0) AS clicked,
    count(*) FILTER (WHERE dismissals > 0) AS dismissed, (extract(epoch FROM min(first_impression_at)) * 1000)::float8 AS start_ms
  FROM user_campaigns WHERE workspace_id = $1 AND campaign_id = $2 AND impressions > 0 GROUP BY variant_id`;

/** By variant and something else of an event. A user is counted where they are first, as one row a user, and then the users are. */
const by = (name: string) => `SELECT variant_id, name, sum(impressions) AS impressions, sum(clicks) AS clicks,
    sum(dismissals) AS dismissals, count(*) FILTER (WHERE impressions > 0) AS exposed,
    count(*) FILTER (WHERE clicks > 0) AS clicked, count(*) FILTER (WHERE dismissals > 0) AS dismissed
  FROM (
    SELECT seen.variant_id, ${name} AS name, count(*) FILTER (WHERE event_type = 'impression') AS impressions,
      count(*) FILTER (WHERE event_type = 'click') AS clicks,
      count(*) FILTER (WHERE event_type = 'dismiss') AS dismissals
    FROM user_campaigns AS seen JOIN banner_events AS done USING (user_id, campaign_id)
    WHERE seen.workspace_id = $1 AND campaign_id = $2 AND seen.impressions > 0 AND NOT is_test_send
    GROUP BY user_id, seen.variant_id, 2
  ) AS users GROUP BY variant_id, name ORDER BY name`;
const BY_PLACEMENT = by('placement_id');
const BY_DAY = by("to_char(least(time, received_at) AT TIME ZONE $3, 'YYYY-MM-DD')");

const countsOf = (row: Row): Counts => ({
  impressions: Number(row['impressions']),
  clicks: Number(row['clicks']),
  dismissals: Number(row['dismissals']),
  exposed: Number(row['exposed']),
  clicked: Number(row['clicked']),
  dismissed: Number(row['dismissed']),
});
const variantOf = (row: Row) => row['variant_id'] as string | null;

/** Counts a campaign on the database's own time, which may be seconds. */
export const countResults = async (
  run: Run,
  workspaceId: string,
  question: ResultsQuestion,
): Promise<CampaignResults> => {
  const { campaignId, timeZone } = question;
  const arms = await run(ARMS, [workspaceId, campaignId]);
  const placements = await run(BY_PLACEMENT, [workspaceId, campaignId]);
  const days = await run(BY_DAY, [workspaceId, campaignId, timeZone]);
  const startMs = Math.min(...arms.map((row) => Math.floor(row['start_ms'] as number)));
  const goals = await countGoals(run, DIALECT, workspaceId, question, startMs);
  return {
    arms: arms.map((row) => ({
      variantId: variantOf(row),
      ...countsOf(row),
      goals: goals.of(variantOf(row)),
    })),
    placements: placements.map((row) => ({
      placementId: row['name'] as string,
      variantId: variantOf(row),
      ...countsOf(row),
    })),
    days: days.map((row) => ({ day: row['name'] as string, variantId: variantOf(row), ...countsOf(row) })),
    currencies: goals.currencies,
  };
};
