import { getShares, getVariantShares, type SharedCampaign } from '../campaign/shares.ts';
import { sequenceHalfWidth } from './confidence-sequence.ts';

const ALPHA = 0.05;
/** 80% quantile of the normal distribution. */
const Z_POWER = 0.8416;

/**
 * Returns the total number of users who must see a variant to detect a change with 80% power. `rate` is the baseline from 0 to 1,
 * `lift` the relative change. At this number, results name a winner by the interval of `confidence-sequence.ts`. Returns `null`
 * if the campaign compares nothing or `rate` with `lift` is not between 0 and 1.
 */
export const requiredSampleSize = (
  campaign: SharedCampaign & { conversions?: readonly unknown[] | null | undefined },
  rate: number,
  lift: number,
): number | null => {
  const raised = rate * (1 + lift);
  if (!(rate > 0 && rate < 1 && raised > 0 && raised < 1 && raised !== rate)) return null;
  const variants = getVariantShares(campaign);
  const control = getShares(campaign).find(({ variantId }) => variantId === null);
  const appliesToControl = (campaign.conversions ?? []).length > 0 && control !== undefined;
  const [first, ...others] = variants;
  if (!first) return null;
  const pairs = [
    ...others.map((one) => [one, first] as const),
    ...(appliesToControl ? variants.map((one) => [one, control] as const) : []),
  ];
  const seen = variants.reduce((sum, { percent }) => sum + percent, 0);
  const needed = pairs.map(([one, other]) => {
    // The half-width in standard errors at the planned size depends only on the share of users in the two arms.
    const halfWidth = sequenceHalfWidth(1, (one.percent + other.percent) / seen, 1, ALPHA / pairs.length);
    const variance =
      (raised * (1 - raised) * seen) / one.percent + (rate * (1 - rate) * seen) / other.percent;
    return ((halfWidth + Z_POWER) / (raised - rate)) ** 2 * variance;
  });
  return pairs.length === 0 ? null : Math.ceil(Math.max(...needed));
};
