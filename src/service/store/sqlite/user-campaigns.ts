import type { DatabaseSync } from 'node:sqlite';
import type { CampaignRow } from '../campaign-counts.ts';

const COLUMNS = [
  'campaign_id',
  'workspace_id',
  'variant_id',
  'is_control',
  'impressions',
  'first_impression_at',
  'last_impression_at',
  'clicks',
  'dismissals',
  'last_dismissal_at',
  'round',
].join(', ');

/** SQLite's own `min` and `max` are NULL where either is. */
const choose = (which: 'min' | 'max', column: string) =>
  `ifnull(${which}(${column}, excluded.${column}), ifnull(${column}, excluded.${column}))`;

const IS_EARLIER = `ifnull(excluded.first_impression_at < first_impression_at,
  first_impression_at IS NULL AND excluded.first_impression_at IS NOT NULL)`;

const ADD = `ON CONFLICT DO UPDATE SET
  variant_id = iif(${IS_EARLIER}, excluded.variant_id, variant_id),
  is_control = iif(${IS_EARLIER}, excluded.is_control, is_control),
  impressions = impressions + excluded.impressions,
  first_impression_at = ${choose('min', 'first_impression_at')},
  last_impression_at = ${choose('max', 'last_impression_at')},
  clicks = clicks + excluded.clicks,
  dismissals = dismissals + excluded.dismissals,
  last_dismissal_at = ${choose('max', 'last_dismissal_at')},
  round = max(round, excluded.round)`;

/** Adds the rows of one user to those of another. */
export const MOVE_CAMPAIGNS = `INSERT INTO user_campaigns (user_id, ${COLUMNS})
  SELECT ?2, ${COLUMNS} FROM user_campaigns WHERE user_id = ?1 ${ADD}`;

/** Adds what events count. */
export const prepareUserCampaigns = (database: DatabaseSync) => {
  const add = database.prepare(
    `INSERT INTO user_campaigns (user_id, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ${ADD}`,
  );
  return (row: CampaignRow) => {
    add.run(
      row.userId,
      row.campaignId,
      row.workspaceId,
      row.variantId,
      row.isControl ? 1 : 0,
      row.impressions,
      row.firstImpressionMs,
      row.lastImpressionMs,
      row.clicks,
      row.dismissals,
      row.lastDismissalMs,
      row.round,
    );
  };
};
