import { hash } from 'node:crypto';
import type { Campaign } from './campaign.ts';
import type { Variant } from './variant.ts';

/** Two numbers from 0 up to 1, unrelated to each other. */
export interface Buckets {
  control: number;
  variant: number;
}

/** 48 bits make a number that JavaScript holds exactly. */
const BYTES = 6;

/** A digest's bytes as a share of all they could be; each is one character of the text. */
const toShare = (digest: string, from: number) => {
  let number = 0;
  for (let at = from; at < from + BYTES; at += 1) number = number * 256 + digest.charCodeAt(at);
  return number / 256 ** BYTES;
};

/** Where a user falls in a campaign: always the same, on every replica, and unrelated to where others fall or to other campaigns. */
export const getBuckets = (workspaceId: string, campaignId: string, userId: string): Buckets => {
  // JSON keeps 'a' + 'bc' and 'ab' + 'c' apart.
  const digest = hash('sha256', JSON.stringify([workspaceId, campaignId, userId]), 'binary');
  return { control: toShare(digest, 0), variant: toShare(digest, BYTES) };
};

/** Picks one of weighted entries; `undefined` where no weight is above 0. */
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
 * The variant of a campaign for a user, and whether they are in its control group, which does not see the variant that it would get. A
 * test send is never in it.
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
  // A campaign without a weight above 0 is refused when it is read.
  return {
    variant: pickWeighted(variants, buckets.variant)!,
    isControl: buckets.control * 100 < percentage,
  };
};
