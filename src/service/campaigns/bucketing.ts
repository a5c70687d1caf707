import { hash } from 'node:crypto';
import type { Campaign } from './campaign.ts';
import type { Variant } from './variant.ts';

/** Two independent numbers in [0, 1). */
export interface Buckets {
  control: number;
  variant: number;
}

/** Bytes per bucket. A JavaScript number represents 48 bits exactly. */
const BYTES = 6;

/** Returns bytes of a digest as a fraction in [0, 1). Each character of the string is one byte. */
const toShare = (digest: string, from: number) => {
  let number = 0;
  for (let at = from; at < from + BYTES; at += 1) number = number * 256 + digest.charCodeAt(at);
  return number / 256 ** BYTES;
};

/** Returns a user's buckets in a campaign. They are the same on every replica, and independent of other users and campaigns. */
export const getBuckets = (workspaceId: string, campaignId: string, userId: string): Buckets => {
  // JSON keeps 'a' + 'bc' and 'ab' + 'c' distinct.
  const digest = hash('sha256', JSON.stringify([workspaceId, campaignId, userId]), 'binary');
  return { control: toShare(digest, 0), variant: toShare(digest, BYTES) };
};

/** Picks a weighted entry. Returns `undefined` if no weight is positive. */
export const pickWeighted = <T extends { weight: number }>(
  entries: readonly T[],
  chance: number,
): T | undefined => {
  const total = entries.reduce((sum, { weight }) => sum + weight, 0);
  let rest = chance * total;
  for (const entry of entries) {
    rest -= entry.weight;
    if (rest < 0) return entry;
  }
  return entries.findLast(({ weight }) => weight > 0);
};

/**
 * Returns a user's variant of a campaign, and whether the user is in the control group, which does not see the variant. Test
 * sends are never in the control group.
 */
export const assignVariant = (
  workspaceId: string,
  { campaignId, controlPercentage, variants }: Campaign,
  userId: string,
  isTestSend: boolean,
): { variant: Variant; isControl: boolean } => {
  const percentage = isTestSend ? 0 : controlPercentage;
  if (percentage === 0 && variants.length === 1) return { variant: variants[0]!, isControl: false };
  const buckets = getBuckets(workspaceId, campaignId, userId);
  // The parser rejects campaigns without a positive weight.
  return {
    variant: pickWeighted(variants, buckets.variant)!,
    isControl: buckets.control * 100 < percentage,
  };
};
