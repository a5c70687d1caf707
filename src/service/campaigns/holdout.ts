import type { NewBannerEvent } from '../profiles/events.ts';
import { isHoldoutId } from '../profiles/holdout-id.ts';
import { getBuckets } from './bucketing.ts';
import type { Campaign } from './campaign.ts';
import { priorityOrder } from './campaign-order.ts';
import type { CampaignSet, Holdout } from './campaign-set.ts';

/**
 * Returns a user's position from 0 to 100, independent of campaign buckets. The user is held out if the position is below the
 * percentage.
 */
export const holdoutBucket = (workspaceId: string, { campaignId }: Holdout, userId: string): number =>
  getBuckets(workspaceId, campaignId, userId).control * 100;

const isExempt = ({ exemptTags }: Holdout, { tags }: Pick<Campaign, 'tags'>): boolean =>
  [...exemptTags].some((tag) => tags.has(tag));

/** Returns the holdout if it excludes this user from this campaign; otherwise `null`. */
export const findHoldout = (
  { workspaceId, holdout }: Pick<CampaignSet, 'workspaceId' | 'holdout'>,
  campaign: Pick<Campaign, 'tags'>,
  userId: string,
  now: number,
): Holdout | null => {
  if (!holdout || now < holdout.startsAtMs || isExempt(holdout, campaign)) return null;
  return holdoutBucket(workspaceId, holdout, userId) < holdout.percentage ? holdout : null;
};

/** Returns the holdout in whose results a banner event also counts; `null` if none. */
export const findHoldoutOfEvent = (
  event: Pick<NewBannerEvent, 'campaignId' | 'isTestSend' | 'timeMs' | 'receivedAtMs'>,
  workspace: CampaignSet,
  userId: string,
): string | null => {
  const { workspaceId, holdout } = workspace;
  const atMs = Math.min(event.timeMs, event.receivedAtMs);
  if (!holdout || event.isTestSend || isHoldoutId(event.campaignId) || atMs < holdout.startsAtMs) return null;
  const campaign = priorityOrder(workspace).byId.get(event.campaignId);
  if (campaign && isExempt(holdout, campaign)) return null;
  // An event of a held-out user comes from a page that has not synced since the holdout started.
  if (holdoutBucket(workspaceId, holdout, userId) < holdout.percentage) return null;
  return holdout.campaignId;
};
