import {
  addCounts,
  isEarlierImpression,
  MEASURE_BY_TYPE,
  MEASURES,
  noLastTimes,
  zeroCounts,
} from '../measures.ts';
import type { NewBannerEvent } from '../profiles/events.ts';
import { withHoldoutAttribution } from '../profiles/holdout-id.ts';
import type { UserCampaign } from '../profiles/user-campaign.ts';
import type { RowOf } from '../sql/table.ts';
import type { DUPLICATE_EVENT } from '../sql/user-tables.ts';

export type DuplicateEvent = RowOf<typeof DUPLICATE_EVENT>;

const latest = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b);

export const createUserCampaign = ({
  campaignId,
  variantId,
  isControl,
}: Pick<NewBannerEvent, 'campaignId' | 'variantId' | 'isControl'>): UserCampaign => ({
  campaignId,
  variantId,
  isControl,
  firstImpressionMs: null,
  round: 0,
  ...zeroCounts(),
  ...noLastTimes(),
});

const updateFirstImpression = (
  userCampaign: UserCampaign,
  first: Pick<UserCampaign, 'variantId' | 'isControl' | 'firstImpressionMs'>,
): void => {
  if (!isEarlierImpression(first, userCampaign)) return;
  userCampaign.variantId = first.variantId;
  userCampaign.isControl = first.isControl;
  userCampaign.firstImpressionMs = first.firstImpressionMs;
};

/**
 * Returns the row with a new event added. Modifies `before`. Limits times to the receipt, because a clock that runs ahead must
 * not hide a campaign for longer.
 */
export const addBannerEvent = (before: UserCampaign | undefined, event: NewBannerEvent): UserCampaign => {
  const userCampaign = before ?? createUserCampaign(event);
  const { variantId, isControl, eventType, round } = event;
  const atMs = Math.min(event.timeMs, event.receivedAtMs);
  const { events, lastMs } = MEASURE_BY_TYPE[eventType];
  userCampaign[events] += 1;
  userCampaign[lastMs] = latest(userCampaign[lastMs], atMs);
  if (eventType === 'impression')
    updateFirstImpression(userCampaign, { variantId, isControl, firstImpressionMs: atMs });
  // A banner belongs to one eligibility round. Repeated or late dismissals of banners of the same round do not start another round.
  if (eventType === 'dismiss') userCampaign.round = Math.max(userCampaign.round, round + 1);
  return userCampaign;
};

const mergeUserCampaign = (kept: UserCampaign | undefined, merged: UserCampaign): UserCampaign => {
  if (!kept) return merged;
  updateFirstImpression(kept, merged);
  addCounts(kept, merged);
  for (const { lastMs } of MEASURES) kept[lastMs] = latest(kept[lastMs], merged[lastMs]);
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
