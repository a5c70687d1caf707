import type { AudienceContext } from './audience/fields.ts';
import type { Campaign } from './campaign.ts';
import { toCampaignActivity } from './campaign-activity.ts';
import type { DecisionRequest, Eligibility, IneligibleReason } from './decision.ts';

export const toAudienceContext = ({
  workspace,
  externalUserId,
  user,
  appId,
  appVersion,
  now,
}: Pick<
  DecisionRequest,
  'workspace' | 'externalUserId' | 'user' | 'appId' | 'appVersion' | 'now'
>): AudienceContext => {
  let activity: ReturnType<typeof toCampaignActivity> | undefined;
  return {
    externalId: externalUserId,
    profile: user.profile,
    campaigns: () => {
      activity ??= toCampaignActivity(workspace, user);
      return activity;
    },
    appId,
    appVersion,
    nowMs: now,
  };
};

/** Whether this is a test send, which ignores status, schedule and audience. */
export const isTestUser = ({ testUsers }: Campaign, externalUserId: string): boolean =>
  testUsers.size > 0 && testUsers.has(externalUserId);

/** Checks campaigns for one user and request. */
export const createEligibilityCheck = (
  request: Pick<DecisionRequest, 'externalUserId' | 'user' | 'now' | 'log'>,
  context: AudienceContext,
): ((campaign: Campaign) => Eligibility) => {
  const { externalUserId, user, now, log } = request;
  const isMember = ({ campaignId, audience }: Campaign): boolean => {
    const membership = audience?.membership(context) ?? 'in';
    if (membership === 'over_budget') log.warn({ campaign: campaignId }, 'audience pattern budget exceeded');
    return membership === 'in';
  };

  const checkTargeting = (campaign: Campaign): IneligibleReason | null => {
    const { status, startsAtMs, endsAtMs } = campaign;
    if (status !== 'active') return 'inactive';
    if ((startsAtMs !== null && now < startsAtMs) || (endsAtMs !== null && now >= endsAtMs))
      return 'outside_schedule';
    return isMember(campaign) ? null : 'not_in_audience';
  };

  return (campaign) => {
    const ineligibleReason = isTestUser(campaign, externalUserId) ? null : checkTargeting(campaign);
    if (ineligibleReason) return ineligibleReason;
    const state = user.campaigns.find(({ campaignId }) => campaignId === campaign.campaignId);
    if (!state || state.lastDismissalMs === null) return 0;
    if (campaign.reeligibleAfterMs === null) return 'dismissed';
    return now >= state.lastDismissalMs + campaign.reeligibleAfterMs ? state.round : 'dismissed';
  };
};
