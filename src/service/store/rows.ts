import type { Changes, KeyRow, UserRow } from '../profiles/changes.ts';
import { profileJson } from '../profiles/profile-json.ts';
import type { CampaignRow } from './campaign-counts.ts';

// Rows as both databases take them. The members are columns; times are Unix milliseconds.

/** With the version that the write gives it. */
export const userRow = ({
  userId,
  workspaceId,
  externalId,
  profile,
  version,
  createdAtMs,
  seenAtMs,
}: UserRow) => ({
  user_id: userId,
  workspace_id: workspaceId,
  external_id: externalId,
  profile: profile && profileJson(profile),
  version: version + 1,
  created_at: profile?.createdAtMs ?? createdAtMs,
  updated_at: profile?.updatedAtMs ?? seenAtMs,
});

export const keyRow = ({ workspaceId, key, userId }: KeyRow) => ({
  workspace_id: workspaceId,
  key,
  user_id: userId,
});

export const eventRow = ({ workspaceId, userId, event }: Changes['events'][number]) => {
  const purchase = event.kind === 'purchase' ? event : null;
  return {
    workspace_id: workspaceId,
    user_id: userId,
    name: event.kind === 'event' ? event.name : null,
    product_id: purchase?.productId ?? null,
    price: purchase?.price ?? null,
    currency: purchase?.currency ?? null,
    quantity: purchase?.quantity ?? null,
    app_id: event.appId,
    time: event.timeMs,
    received_at: event.receivedAtMs,
    properties: event.properties,
  };
};

export const bannerEventRow = ({ workspaceId, userId, event }: Changes['bannerEvents'][number]) => ({
  user_id: userId,
  banner_id: event.bannerId,
  event_type: event.eventType,
  time: event.timeMs,
  workspace_id: workspaceId,
  campaign_id: event.campaignId,
  variant_id: event.variantId,
  placement_id: event.placementId,
  app_id: event.appId,
  is_control: event.isControl,
  is_test_send: event.isTestSend,
  received_at: event.receivedAtMs,
});

export const campaignRow = (row: CampaignRow) => ({
  user_id: row.userId,
  campaign_id: row.campaignId,
  workspace_id: row.workspaceId,
  variant_id: row.variantId,
  is_control: row.isControl,
  impressions: row.impressions,
  first_impression_at: row.firstImpressionMs,
  last_impression_at: row.lastImpressionMs,
  clicks: row.clicks,
  dismissals: row.dismissals,
  last_dismissal_at: row.lastDismissalMs,
  round: row.round,
});

export const pointsRow = ({ workspaceId, day, points }: Changes['points'][number]) => ({
  workspace_id: workspaceId,
  day,
  points,
});
