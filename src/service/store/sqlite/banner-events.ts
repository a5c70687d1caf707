import type { DatabaseSync } from 'node:sqlite';
import type { Changes } from '../../profiles/changes.ts';
import { addCampaigns } from '../add-campaigns.ts';
import { countCampaigns } from '../campaign-counts.ts';
import { bannerEventRow, campaignRow } from '../rows.ts';
import { valuesOf } from './rows.ts';

/** Adds rows to `banner_events`, and counts those that are no repeats in `user_campaigns`. */
export const prepareBannerEvents = (database: DatabaseSync) => {
  const insert = database.prepare(
    `INSERT OR IGNORE INTO banner_events (user_id, banner_id, event_type, time, workspace_id, campaign_id, variant_id,
       placement_id, app_id, is_control, is_test_send, received_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const count = database.prepare(addCampaigns('VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'));

  return (events: Changes['bannerEvents']) => {
    const fresh = events.filter((each) => insert.run(...valuesOf(bannerEventRow(each))).changes === 1);
    for (const row of countCampaigns(fresh)) count.run(...valuesOf(campaignRow(row)));
  };
};
