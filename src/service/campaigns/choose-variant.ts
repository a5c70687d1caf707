import { bucketsOf, pickWeighted } from './bucketing.ts';
import type { Campaign, Variant } from './campaign.ts';

/** The variant of a campaign for a user, or `null` for one who is held out. A test send is never held out. */
export const chooseVariant = (
  workspaceId: string,
  { campaignId, controlPercentage, variants }: Campaign,
  userId: string,
  isTestSend: boolean,
): Variant | null => {
  const percentage = isTestSend ? 0 : controlPercentage;
  if (percentage === 0 && variants.length === 1) return variants[0] ?? null;
  const buckets = bucketsOf(workspaceId, campaignId, userId);
  return buckets.control * 100 < percentage ? null : (pickWeighted(variants, buckets.variant) ?? null);
};
