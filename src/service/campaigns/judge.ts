import type { AudienceContext } from './audience/fields.ts';
import type { Campaign } from './campaign.ts';
import type { PassedOver, Question, Verdict } from './decision.ts';

export const toAudienceContext = ({
  externalUserId,
  user,
  appId,
  appVersion,
  now,
}: Pick<Question, 'externalUserId' | 'user' | 'appId' | 'appVersion' | 'now'>): AudienceContext => ({
  externalId: externalUserId,
  profile: user.profile,
  appId,
  appVersion,
  nowMs: now,
});

/** A test send ignores status, time and audience. */
export const isTestFor = ({ testUsers }: Campaign, externalUserId: string): boolean =>
  testUsers.size > 0 && testUsers.has(externalUserId);

/** Judges campaigns for the user of one question. */
export const createJudge = (
  question: Pick<Question, 'externalUserId' | 'user' | 'now' | 'log'>,
  context: AudienceContext,
): ((campaign: Campaign) => Verdict) => {
  const { externalUserId, user, now, log } = question;
  const isMember = ({ campaignId, audience }: Campaign): boolean => {
    const membership = audience?.membership(context) ?? 'in';
    if (membership === 'over_budget') log.warn({ campaign: campaignId }, 'audience pattern budget exceeded');
    return membership === 'in';
  };

  const targeting = (campaign: Campaign): PassedOver | null => {
    const { status, startsAtMs, endsAtMs } = campaign;
    if (status !== 'active') return 'not_running';
    if ((startsAtMs !== null && now < startsAtMs) || (endsAtMs !== null && now >= endsAtMs))
      return 'out_of_time';
    return isMember(campaign) ? null : 'not_in_audience';
  };

  return (campaign) => {
    const passedOver = isTestFor(campaign, externalUserId) ? null : targeting(campaign);
    if (passedOver) return passedOver;
    const known = user.campaigns.find(({ campaignId }) => campaignId === campaign.campaignId);
    if (!known || known.lastDismissalMs === null) return 0;
    if (campaign.reeligibleAfterMs === null) return 'dismissed';
    return now >= known.lastDismissalMs + campaign.reeligibleAfterMs ? known.round : 'dismissed';
  };
};
