import type { CampaignInput } from '../../service/index.ts';

type VariantInput = CampaignInput['variants'][number];

/** Property of a draft. Its value may be invalid for its type. */
export interface PropertyJson {
  type: VariantInput['properties'][string]['type'];
  value: unknown;
}

export interface VariantJson extends Omit<VariantInput, 'properties'> {
  properties: Record<string, PropertyJson>;
}

/** Campaign in the format of the workspace file. */
export interface CampaignJson extends Omit<CampaignInput, 'variants'> {
  variants: VariantJson[];
}

export type FrequencyJson = NonNullable<CampaignInput['frequency']>;
export type StopAfterJson = NonNullable<FrequencyJson['stop_after']>;
export type OnClickJson = NonNullable<VariantInput['on_click']>;
export type GoalJson = NonNullable<CampaignInput['conversions']>[number];

/** Returns the maximum time in seconds that a page keeps the campaign without a sync; `null` if a variant has no limit. */
export const cacheTtlSeconds = ({ variants }: CampaignJson): number | null =>
  variants.reduce<number | null>(
    (most, { cache_ttl_seconds: each }) => (most === null || each == null ? null : Math.max(most, each)),
    0,
  );

export type Filter = Record<string, unknown>;

/**
 * Casts stored content. Returns `null` if empty. Only its shape was validated when stored, so other members can have any value.
 * Pages that cannot render a campaign show a fallback.
 */
export const toCampaignJson = (stored: unknown): CampaignJson | null =>
  (stored ?? null) as CampaignJson | null;

export const getCampaignName = (campaign: Pick<CampaignJson, 'campaign_id' | 'name'>): string =>
  campaign.name?.trim() || campaign.campaign_id;

export const variantName = ({ variant_id, name }: Pick<VariantJson, 'variant_id' | 'name'>): string =>
  name?.trim() || variant_id;

/** Returns the first variant that users get: of an ended test the winner. */
export const firstVariant = ({ variants }: Pick<CampaignJson, 'variants'>): VariantJson | undefined =>
  variants.find(({ weight }) => weight !== 0) ?? variants[0];

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

/** Returns whether a campaign is scheduled, live or over, or its status if the status prevents it from running. */
export const scheduleState = (
  { status, starts_at, ends_at }: Pick<CampaignJson, 'status' | 'starts_at' | 'ends_at'>,
  nowMs: number,
): ScheduleState => {
  if (status !== 'active') return status;
  if (starts_at && Date.parse(starts_at) > nowMs) return 'planned';
  return ends_at && Date.parse(ends_at) <= nowMs ? 'over' : 'live';
};
