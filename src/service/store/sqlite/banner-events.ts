import type { DatabaseSync } from 'node:sqlite';
import { countCampaigns } from '../campaign-counts.ts';
import type { Changes } from '../changes.ts';
import { prepareUserCampaigns } from './user-campaigns.ts';

/** Adds rows to `banner_events`, and counts those that are no repeats in `user_campaigns`. */
export const prepareBannerEvents = (database: DatabaseSync) => {
  const insert = database.prepare(
    `INSERT OR IGNORE INTO banner_events (user_id, banner_id, event_type, time, workspace_id, campaign_id, variant_id,
       placement_id, app_id, is_control, is_test_send, received_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const addCampaign = prepareUserCampaigns(database);

  return (events: Changes['bannerEvents']) => {
    const fresh = events.filter(({ workspaceId, userId, event }) => {
      const { changes } = insert.run(
        userId,
        event.bannerId,
        event.eventType,
        event.timeMs,
        workspaceId,
        event.campaignId,
        event.variantId,
        event.placementId,
        event.appId,
        event.isControl ? 1 : 0,
        event.isTestSend ? 1 : 0,
        event.receivedAtMs,
      );
      return changes === 1;
    });
    for (const row of countCampaigns(fresh)) addCampaign(row);
  };
};
