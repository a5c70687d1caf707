import { getOwn, type Profile } from '../profiles/profile.ts';
import type { TargetingData } from '../store/store.ts';
import type { CampaignActivity } from './audience/fields.ts';
import type { Campaign } from './campaign.ts';
import type { CampaignSet } from './campaign-set.ts';

/**
 * Returns the time at which each goal of a campaign was last reached, in Unix milliseconds. Omits goals that were not reached
 * since the first impression.
 */
export const goalsReachedMs = (
  { goals }: Pick<Campaign, 'goals'>,
  profile: Readonly<Profile> | null,
  firstImpressionMs: number | null,
): number[] =>
  goals.flatMap((goal) => {
    const done =
      profile &&
      ('event' in goal ? getOwn(profile.events, goal.event) : getOwn(profile.purchases, goal.product));
    return done && firstImpressionMs !== null && done.last >= firstImpressionMs ? [done.last] : [];
  });

/**
 * Returns a user's activity by campaign ID. Omits campaigns in whose control group the user is, because control groups see no
 * banner.
 */
export const toCampaignActivity = (
  { campaigns: all }: Pick<CampaignSet, 'campaigns'>,
  { profile, campaigns }: Pick<TargetingData, 'profile' | 'campaigns'>,
): Record<string, CampaignActivity> =>
  Object.fromEntries(
    campaigns
      .filter(({ isControl }) => !isControl)
      .map((state) => [
        state.campaignId,
        {
          ...state,
          get reachedMs() {
            const campaign = all.find(({ campaignId }) => campaignId === state.campaignId);
            return campaign ? goalsReachedMs(campaign, profile, state.firstImpressionMs) : [];
          },
        },
      ]),
  );
