/** Campaign in the format of the workspace file. */
export interface CampaignJson {
  campaign_id: string;
  name?: string | null;
  status: 'active' | 'draft' | 'stopped';
  placements: string[];
  priority?: 'high' | 'medium' | 'low' | null;
  starts_at?: string | null;
  ends_at?: string | null;
  audience?: Filter | null;
  control_percentage?: number | null;
  reeligible_after_hours?: number | null;
  /** External IDs of users who always see the campaign. */
  test_users?: string[] | null;
  conversions?: ConversionJson[] | null;
  /** Number of exposed users before a winner is named. */
  target_sample_size?: number | null;
  /** Tags, by which frequency caps of the workspace group campaigns. */
  tags?: string[] | null;
  frequency?: FrequencyJson | null;
  /** Language of the variants' properties. */
  language?: string | null;
  variants: VariantJson[];
}

/** Frequency cap per user. */
export interface FrequencyJson {
  impressions?: { max: number; days: number } | null;
  stop_after?: StopAfterJson | null;
}

/** Ends the campaign for a user after these counts. */
export interface StopAfterJson {
  impressions?: number | null;
  clicks?: number | null;
  conversions?: number | null;
}

export interface VariantJson {
  variant_id: string;
  name?: string | null;
  weight?: number | null;
  cache_ttl_seconds?: number | null;
  on_click?: OnClickJson | null;
  properties: Record<string, PropertyJson>;
  /** Texts by language, then by property. */
  translations?: Record<string, Record<string, string>> | null;
}

/** Effect of a click on the user's profile. */
export interface OnClickJson {
  event?: string | null;
  attributes?: Record<string, string | number | boolean> | null;
}

export interface PropertyJson {
  type: 'string' | 'number' | 'boolean' | 'image' | 'jsonobject' | 'datetime';
  value: unknown;
}

export interface ConversionJson {
  event?: string | null;
  product?: string | null;
  within_hours: number;
}

/** Returns the maximum time in seconds that a page keeps the campaign without a sync; `null` if a variant has no limit. */
export const cacheTtlSeconds = ({ variants }: CampaignJson): number | null =>
  variants.reduce<number | null>(
    (most, { cache_ttl_seconds: each }) => (most === null || each == null ? null : Math.max(most, each)),
    0,
  );

export type Filter = Record<string, unknown>;

/**
 * Casts stored content; `null` if empty. Only its shape was validated when stored, so other members can hold anything. Pages that
 * cannot render it show a fallback.
 */
export const toCampaignJson = (stored: unknown): CampaignJson | null =>
  (stored ?? null) as CampaignJson | null;

export const nameOf = (campaign: Pick<CampaignJson, 'campaign_id' | 'name'>): string =>
  campaign.name?.trim() || campaign.campaign_id;

export const variantName = ({ variant_id, name }: Pick<VariantJson, 'variant_id' | 'name'>): string =>
  name?.trim() || variant_id;

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** Returns an unused variant ID. IDs of published variants stay reserved, because results are keyed by them. */
export const freeVariantId = (used: readonly Pick<VariantJson, 'variant_id'>[]): string => {
  const isFree = (id: string) => !used.some(({ variant_id }) => variant_id === id);
  const letter = [...LETTERS].find(isFree);
  if (letter) return letter;
  let number = used.length + 1;
  while (!isFree(`v${number}`)) number += 1;
  return `v${number}`;
};

export type ScheduleState = 'draft' | 'stopped' | 'planned' | 'live' | 'over';

/** Returns whether a campaign is scheduled, live or over; its status if that prevents it from running. */
export const scheduleState = (
  { status, starts_at, ends_at }: Pick<CampaignJson, 'status' | 'starts_at' | 'ends_at'>,
  nowMs: number,
): ScheduleState => {
  if (status !== 'active') return status;
  if (starts_at && Date.parse(starts_at) > nowMs) return 'planned';
  return ends_at && Date.parse(ends_at) <= nowMs ? 'over' : 'live';
};
