import { getOwn, type Profile } from '../profiles/profile.ts';
import type { TargetingData, UserCampaign } from '../store/store.ts';
import type { Campaign } from './campaign.ts';
import type { CampaignSet } from './campaign-set.ts';

/** What a user did in one campaign that was shown to them. */
export interface CampaignActivity
  extends Pick<
    UserCampaign,
    'impressions' | 'lastImpressionMs' | 'clicks' | 'lastClickMs' | 'dismissals' | 'lastDismissalMs'
  > {
  /** Goals of the campaign that were reached since the first impression, by when each was reached last, in Unix milliseconds. */
  readonly reachedMs: readonly number[];
}

/** Returns when each goal of a campaign was reached last, in Unix milliseconds, without those not reached since an impression. */
export const goalsReachedMs = (
  { conversions }: Pick<Campaign, 'conversions'>,
  profile: Readonly<Profile> | null,
  firstImpressionMs: number | null,
): number[] =>
  conversions.flatMap((goal) => {
    const done =
      profile &&
      ('event' in goal ? getOwn(profile.events, goal.event) : getOwn(profile.purchases, goal.product));
    return done && firstImpressionMs !== null && done.last >= firstImpressionMs ? [done.last] : [];
  });

/** Returns what a user did in campaigns, by campaign ID. Control groups see nothing, so they did nothing. */
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
