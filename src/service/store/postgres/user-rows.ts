import { type ProfileJson, readProfile } from '../../profiles/profile-json.ts';
import type { UserRow } from '../changes.ts';
import type { UserCampaign } from '../store.ts';

/** A row of `users` as the driver gives it: a bigint is a text. */
export interface SentUser {
  user_id: string;
  workspace_id: string;
  external_id: string | null;
  profile: ProfileJson | null;
  version: string;
  created_ms: number;
  updated_ms: number;
}

export const userOf = (row: SentUser): UserRow => {
  const userId = Number(row.user_id);
  const { external_id: externalId, created_ms: createdAtMs, updated_ms: updatedAtMs, profile } = row;
  return {
    userId,
    workspaceId: row.workspace_id,
    externalId,
    profile: profile && readProfile({ userId, externalId, createdAtMs, updatedAtMs }, profile),
    createdAtMs,
    version: Number(row.version),
  };
};

/** A row of `user_campaigns`. */
export interface SentCampaign {
  campaign_id: string;
  variant_id: string | null;
  is_control: boolean;
  impressions: number;
  first_ms: number | null;
  last_ms: number | null;
  clicks: number;
  dismissals: number;
  dismissal_ms: number | null;
  round: number;
}

export const campaignOf = (row: SentCampaign): UserCampaign => ({
  campaignId: row.campaign_id,
  variantId: row.variant_id,
  isControl: row.is_control,
  impressions: row.impressions,
  firstImpressionMs: row.first_ms,
  lastImpressionMs: row.last_ms,
  clicks: row.clicks,
  dismissals: row.dismissals,
  lastDismissalMs: row.dismissal_ms,
  round: row.round,
});
