import type { RunSql } from '../operators/index.ts';

/** The first numbers of a campaign: users who saw one of its variants, and those of them who clicked. */
export interface CampaignNumber {
  campaignId: string;
  exposed: number;
  clicked: number;
}

const COUNT = `SELECT campaign_id, count(*) AS exposed, sum(CASE WHEN clicks > 0 THEN 1 ELSE 0 END) AS clicked
  FROM user_campaigns WHERE workspace_id = $1 AND NOT is_control AND first_impression_at IS NOT NULL
  GROUP BY campaign_id`;

/** Of both databases. */
export const countNumbers = async (run: RunSql, workspaceId: string): Promise<CampaignNumber[]> =>
  (await run(COUNT, [workspaceId])).map((row) => ({
    campaignId: row['campaign_id'] as string,
    exposed: Number(row['exposed']),
    clicked: Number(row['clicked']),
  }));
