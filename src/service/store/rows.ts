import type { Changes, KeyRow, UserRow } from '../profiles/changes.ts';
import { profileJson } from '../profiles/profile-json.ts';
import type { CampaignCount, UserState } from './campaign-state.ts';

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
  day: event.day,
  app_id: event.appId,
  is_control: event.isControl,
  is_test_send: event.isTestSend,
  received_at: event.receivedAtMs,
});

export const campaignRow = ({ workspaceId, userId, state }: UserState) => ({
  user_id: userId,
  campaign_id: state.campaignId,
  workspace_id: workspaceId,
  variant_id: state.variantId,
  is_control: state.isControl,
  impressions: state.impressions,
  first_impression_at: state.firstImpressionMs,
  last_impression_at: state.lastImpressionMs,
  clicks: state.clicks,
  dismissals: state.dismissals,
  last_dismissal_at: state.lastDismissalMs,
  round: state.round,
  parts: state.parts,
});

export const countRow = (count: CampaignCount, lane: number) => ({
  workspace_id: count.workspaceId,
  campaign_id: count.campaignId,
  variant_id: count.variantId,
  part: count.part,
  lane,
  impressions: count.impressions,
  clicks: count.clicks,
  dismissals: count.dismissals,
  exposed: count.exposed,
  clicked: count.clicked,
  dismissed: count.dismissed,
});

export const pointsRow = ({ workspaceId, day, points }: Changes['points'][number], lane: number) => ({
  workspace_id: workspaceId,
  day,
  lane,
  points,
});
