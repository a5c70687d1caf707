import { type CampaignJson, variantName } from './campaign-json.ts';

/** A part of the audience: those who get a variant, or the control group, whose ID is `null`. */
export interface Share {
  variantId: string | null;
  name: string;
  /** Per cent of the whole audience. */
  percent: number;
}

/** How the audience is divided: the control group first is taken from all, the weights divide the rest. */
export const sharesOf = ({ variants, control_percentage }: CampaignJson): Share[] => {
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
