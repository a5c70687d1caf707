import { type CampaignJson, type VariantJson, variantName } from './campaign-json.ts';

/** Share of a variant or the control group (ID `null`) in the audience. */
export interface Share {
  variantId: string | null;
  name: string;
  /** Percent of the whole audience. */
  percent: number;
}

/** Members of a campaign that determine the shares. */
export type SharedCampaign = Pick<CampaignJson, 'control_percentage'> & {
  variants: readonly Pick<VariantJson, 'variant_id' | 'name' | 'weight'>[];
};

/** Returns the shares of the variants that users get, without the control group. */
export const getVariantShares = (campaign: SharedCampaign): (Share & { variantId: string })[] =>
  getShares(campaign).flatMap((share) => {
    const { variantId, percent } = share;
    return variantId !== null && percent > 0 ? [{ ...share, variantId }] : [];
  });

/** Returns the shares of the audience. The control group is a percentage of all users, and the weights split the rest. */
export const getShares = ({ variants, control_percentage }: SharedCampaign): Share[] => {
  const control = control_percentage ?? 0;
  const weights = variants.map(({ weight }) => weight ?? 1);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const shares = variants.map((variant, index) => ({
    variantId: variant.variant_id,
    name: variantName(variant),
    percent: total === 0 ? 0 : ((100 - control) * weights[index]!) / total,
  }));
  return control > 0 ? [...shares, { variantId: null, name: 'Control', percent: control }] : shares;
};

/** Returns whether a campaign is measured against a control group with a goal, so that a goal can fall below it. */
export const canFallBelowControl = (campaign: CampaignJson | null): boolean =>
  campaign?.status === 'active' &&
  (campaign.conversions ?? []).length > 0 &&
  (campaign.control_percentage ?? 0) > 0;
