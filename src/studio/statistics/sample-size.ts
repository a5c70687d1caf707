import type { CampaignJson } from '../campaign/campaign-json.ts';
import { sharesOf } from '../campaign/shares.ts';
import { sequenceHalfWidth } from './confidence-sequence.ts';

const ALPHA = 0.05;
/** Of the normal distribution: four of five. */
const Z_POWER = 0.8416;

/**
 * How many people should see a variant so that four of five times a change of this size is found: `rate` without it, from 0 to 1,
 * and `lift` as a share of it. The results name a winner at that number, by the interval of `confidence-sequence.ts`. `null` where
 * the campaign compares nothing, or the rate with the lift is no share.
 */
export const requiredSampleSize = (campaign: CampaignJson, rate: number, lift: number): number | null => {
  const raised = rate * (1 + lift);
  if (!(rate > 0 && rate < 1 && raised > 0 && raised < 1 && raised !== rate)) return null;
  const shares = sharesOf(campaign).filter(({ percent }) => percent > 0);
  const variants = shares.filter(({ variantId }) => variantId !== null);
  const control = shares.find(({ variantId }) => variantId === null);
  const isOfControl = (campaign.conversions ?? []).length > 0 && control !== undefined;
  const [first, ...others] = variants;
  if (!first) return null;
  const pairs = [
    ...others.map((one) => [one, first] as const),
    ...(isOfControl ? variants.map((one) => [one, control] as const) : []),
  ];
  const seen = variants.reduce((sum, { percent }) => sum + percent, 0);
  const needed = pairs.map(([one, other]) => {
    // So many standard errors wide it is at the planned number, whatever that is, with the share of the people that the two have.
    const halfWidth = sequenceHalfWidth(1, (one.percent + other.percent) / seen, 1, ALPHA / pairs.length);
    const variance =
      (raised * (1 - raised) * seen) / one.percent + (rate * (1 - rate) * seen) / other.percent;
    return ((halfWidth + Z_POWER) / (raised - rate)) ** 2 * variance;
  });
  return pairs.length === 0 ? null : Math.ceil(Math.max(...needed));
};
