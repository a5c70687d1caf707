/** A campaign as the workspace file writes it, and as the Studio edits it. */
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
  /** See it whatever its status, time and audience are. */
  test_users?: string[] | null;
  conversions?: ConversionJson[] | null;
  /** So many users should see it before a winner is named. */
  target_sample_size?: number | null;
  /** By which caps of the workspace limit campaigns together. */
  tags?: string[] | null;
  frequency?: FrequencyJson | null;
  /** Of the variants' properties. */
  language?: string | null;
  variants: VariantJson[];
}

/** How often one user gets it. */
export interface FrequencyJson {
  impressions?: { max: number; days: number } | null;
  stop_after?: StopAfterJson | null;
}

/** Over for a user after so many. */
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

/** What a click does to the user. */
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

/** How long a page may keep it at most without asking again, in seconds; `null` where one of its variants has no bound. */
export const cacheTtlSeconds = ({ variants }: CampaignJson): number | null =>
  variants.reduce<number | null>(
    (most, { cache_ttl_seconds: each }) => (most === null || each == null ? null : Math.max(most, each)),
    0,
  );

export type Filter = Record<string, unknown>;

/**
 * What a draft or a release holds; `null` where it holds nothing. The route that stored it has looked at its shape alone: what else is
 * in it may be anything, and a page that cannot draw it says so in its place.
 */
export const toCampaignJson = (stored: unknown): CampaignJson | null =>
  (stored ?? null) as CampaignJson | null;

export const nameOf = (campaign: Pick<CampaignJson, 'campaign_id' | 'name'>): string =>
  campaign.name?.trim() || campaign.campaign_id;

export const variantName = ({ variant_id, name }: Pick<VariantJson, 'variant_id' | 'name'>): string =>
  name?.trim() || variant_id;

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** An ID for another variant. Those that were published keep theirs, or results would count the new one as the old. */
export const freeVariantId = (used: readonly Pick<VariantJson, 'variant_id'>[]): string => {
  const isFree = (id: string) => !used.some(({ variant_id }) => variant_id === id);
  const letter = [...LETTERS].find(isFree);
  if (letter) return letter;
  let number = used.length + 1;
  while (!isFree(`v${number}`)) number += 1;
  return `v${number}`;
};

export type ScheduleState = 'draft' | 'stopped' | 'planned' | 'live' | 'over';

/** Whether a campaign is before, in or after its time; its status where that keeps it from running at all. */
export const scheduleState = (
  { status, starts_at, ends_at }: Pick<CampaignJson, 'status' | 'starts_at' | 'ends_at'>,
  nowMs: number,
): ScheduleState => {
  if (status !== 'active') return status;
  if (starts_at && Date.parse(starts_at) > nowMs) return 'planned';
  return ends_at && Date.parse(ends_at) <= nowMs ? 'over' : 'live';
};
