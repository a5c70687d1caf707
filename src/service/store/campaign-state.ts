import type { NewBannerEvent } from '../profiles/events.ts';
import type { UserCampaign } from '../profiles/user-campaign.ts';
import { withHoldoutAttribution } from '../results/counted-event.ts';
import { addCounts, isEarlierImpression, latest, MEASURE_BY_TYPE } from '../results/measures.ts';

export interface UserState {
  workspaceId: string;
  userId: number;
  state: UserCampaign;
}

/** Banner event of both users of a merge, which is stored only once. */
export type DuplicateEvent = Pick<
  NewBannerEvent,
  'campaignId' | 'holdoutId' | 'eventType' | 'day' | 'placementId' | 'language'
> & { bannerEventId: number };

const emptyState = ({
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
 * Returns the state with a new event added. Modifies `before`. Limits times to the receipt, because a clock that runs ahead must
 * not hide a campaign for longer.
 */
export const addEvent = (before: UserCampaign | undefined, event: NewBannerEvent): UserCampaign => {
  const state = before ?? emptyState(event);
  const { variantId, isControl, eventType, round } = event;
  const atMs = Math.min(event.timeMs, event.receivedAtMs);
  state[MEASURE_BY_TYPE[eventType].events] += 1;
  MEASURE_BY_TYPE[eventType].effect(state, { variantId, isControl, atMs, round });
  return state;
};

const mergeStates = (kept: UserCampaign | undefined, merged: UserCampaign): UserCampaign => {
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

/** Returns the merged states of two users. Modifies its arguments. */
export const mergeUsers = (
  kept: readonly UserCampaign[],
  merged: readonly UserCampaign[],
  duplicates: readonly DuplicateEvent[],
): UserCampaign[] => {
  const states = new Map(kept.map((state) => [state.campaignId, state]));
  for (const state of merged) states.set(state.campaignId, mergeStates(states.get(state.campaignId), state));
  for (const { campaignId, eventType } of duplicates.flatMap(withHoldoutAttribution)) {
    const state = states.get(campaignId);
    if (state) state[MEASURE_BY_TYPE[eventType].events] -= 1;
  }
  return [...states.values()];
};
