/** A campaign as the workspace file writes it, and as the Studio edits it. */
export interface PropertyText {
  type: 'string' | 'number' | 'boolean' | 'image' | 'jsonobject' | 'datetime';
  value: unknown;
}

export interface VariantText {
  variant_id: string;
  name?: string;
  weight?: number;
  expires_after_seconds?: number | null;
  properties: Record<string, PropertyText>;
}

export interface CampaignText {
  campaign_id: string;
  name?: string;
  status: 'active' | 'draft' | 'stopped';
  placements: string[];
  priority?: 'high' | 'medium' | 'low';
  starts_at?: string | null;
  ends_at?: string | null;
  audience?: Record<string, unknown> | null;
  control_percentage?: number;
  reeligible_after_hours?: number | null;
  /** See it whatever its status, time and audience are. */
  test_users?: string[] | null;
  variants: VariantText[];
}

export const nameOf = (campaign: CampaignText): string => campaign.name ?? campaign.campaign_id;
