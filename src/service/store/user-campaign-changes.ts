import type { NewBannerEvent } from '../profiles/events.ts';
import type { UserCampaign } from '../profiles/user-campaign.ts';
import { withHoldoutAttribution } from '../results/counted-event.ts';
import { addCounts, isEarlierImpression, latest, MEASURE_BY_TYPE } from '../results/measures.ts';

/** Row of `user_campaigns`. */
export interface UserCampaignRow {
  workspaceId: string;
  userId: number;
  userCampaign: UserCampaign;
}

/** Banner event of both users of a merge, which is stored only once. */
export type DuplicateEvent = Pick<
  NewBannerEvent,
  'campaignId' | 'holdoutId' | 'eventType' | 'day' | 'placementId' | 'language'
> & { bannerEventId: number };

const createUserCampaign = ({
  campaignId,
  variantId,
  isControl,
}: Pick<NewBannerEvent, 'campaignId' | 'variantId' | 'isControl'>): UserCampaign => ({
  campaignId,
  variantId,
  isControl,
  impressions: 0,
  firstImpressionMs: null,
  lastImpressionMs: null,
  clicks: 0,
  lastClickMs: null,
  dismissals: 0,
  lastDismissalMs: null,
  round: 0,
});

/**
 * Returns the row with a new event added. Modifies `before`. Limits times to the receipt, because a clock that runs ahead must
 * not hide a campaign for longer.
 */
export const addBannerEvent = (before: UserCampaign | undefined, event: NewBannerEvent): UserCampaign => {
  const userCampaign = before ?? createUserCampaign(event);
  const { variantId, isControl, eventType, round } = event;
  const atMs = Math.min(event.timeMs, event.receivedAtMs);
  userCampaign[MEASURE_BY_TYPE[eventType].events] += 1;
  MEASURE_BY_TYPE[eventType].effect(userCampaign, { variantId, isControl, atMs, round });
  return userCampaign;
};

const mergeUserCampaign = (kept: UserCampaign | undefined, merged: UserCampaign): UserCampaign => {
  if (!kept) return merged;
  if (isEarlierImpression(merged, kept)) {
    const { variantId, isControl, firstImpressionMs } = merged;
    Object.assign(kept, { variantId, isControl, firstImpressionMs });
  }
  addCounts(kept, merged);
  kept.lastImpressionMs = latest(kept.lastImpressionMs, merged.lastImpressionMs);
  kept.lastClickMs = latest(kept.lastClickMs, merged.lastClickMs);
  kept.lastDismissalMs = latest(kept.lastDismissalMs, merged.lastDismissalMs);
  kept.round = Math.max(kept.round, merged.round);
  return kept;
};

/** Returns the merged rows of two users. Modifies its arguments. */
export const mergeUserCampaigns = (
  kept: readonly UserCampaign[],
  merged: readonly UserCampaign[],
  duplicates: readonly DuplicateEvent[],
): UserCampaign[] => {
  const userCampaigns = new Map(kept.map((each) => [each.campaignId, each]));
  for (const each of merged)
    userCampaigns.set(each.campaignId, mergeUserCampaign(userCampaigns.get(each.campaignId), each));
  for (const { campaignId, eventType } of duplicates.flatMap(withHoldoutAttribution)) {
    const userCampaign = userCampaigns.get(campaignId);
    if (userCampaign) userCampaign[MEASURE_BY_TYPE[eventType].events] -= 1;
  }
  return [...userCampaigns.values()];
};
