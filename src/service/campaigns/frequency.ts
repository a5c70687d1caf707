import { DAY_MS } from '../../protocol/index.ts';
import type { UserCampaign } from '../profiles/user-campaign.ts';
import type { Campaign } from './campaign.ts';
import { goalsReachedMs } from './campaign-activity.ts';
import { priorityOrder } from './campaign-order.ts';
import type { CampaignSet } from './campaign-set.ts';
import type { CapHit, DecisionRequest } from './decision.ts';

const addDays = (day: string, days: number) =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);

/** Returns the start of a window of `days` days that ends today. */
const startOfDays = ({ calendar }: CampaignSet, days: number, now: number): number =>
  calendar.startOf(addDays(calendar.toDay(now), 1 - days));

/** Returns the time since which a decision needs every impression of a user; `null` if no campaign has a cap by days. */
export const impressionsSince = (workspace: CampaignSet, now: number): number | null => {
  const { capDays } = priorityOrder(workspace);
  return capDays === 0 ? null : startOfDays(workspace, capDays, now);
};

type CapContext = Pick<DecisionRequest, 'workspace' | 'user' | 'now'>;

const stopCap = (campaign: Campaign, seen: UserCampaign, { user }: CapContext): CapHit | null => {
  const { impressions, clicks, conversions: goals } = campaign.frequency!.stopAfter;
  const checkMax = (
    name: 'impressions' | 'clicks' | 'conversions',
    max: number | null,
    count: number,
  ): CapHit | null =>
    max !== null && count >= max
      ? { limit: `stop_after.${name}`, max, count, eligibleAgainAtMs: null }
      : null;
  return (
    checkMax('impressions', impressions, seen.impressions) ??
    checkMax('clicks', clicks, seen.clicks) ??
    checkMax(
      'conversions',
      goals,
      goals === null ? 0 : goalsReachedMs(campaign, user.profile, seen.firstImpressionMs).length,
    )
  );
};

const daysCap = (
  { campaignId, frequency }: Campaign,
  { workspace, user, now }: CapContext,
): CapHit | null => {
  if (!frequency?.impressions) return null;
  const { max, days } = frequency.impressions;
  const start = startOfDays(workspace, days, now);
  const times = user.impressions
    .filter((each) => each.campaignId === campaignId && each.timeMs >= start)
    .map(({ timeMs }) => timeMs)
    .sort((one, other) => one - other);
  if (times.length < max) return null;
  const { calendar } = workspace;
  const expiryDay = addDays(calendar.toDay(times[times.length - max]!), days);
  return { limit: 'impressions', max, count: times.length, eligibleAgainAtMs: calendar.startOf(expiryDay) };
};

/**
 * Creates the frequency caps of one decision. Impressions count once stored, so cached banners may exceed a cap. Within a
 * response, campaigns that already have a placement count towards the caps of later campaigns.
 */
export const createFrequencyCapper = (context: CapContext) => {
  const { workspace, user, now } = context;
  const { tagCaps, calendar } = workspace;
  const today = calendar.toDay(now);
  const midnight = calendar.startOf(today);
  const seenToday = new Set(
    tagCaps.length === 0
      ? []
      : user.campaigns.flatMap(({ campaignId, lastImpressionMs }) =>
          lastImpressionMs !== null && lastImpressionMs >= midnight ? [campaignId] : [],
        ),
  );

  const tagCap = ({ campaignId, tags }: Campaign): CapHit | null => {
    if (seenToday.has(campaignId)) return null;
    for (const { tag, campaignsPerDay: max, exempt } of tagCaps) {
      if (!tags.has(tag) || exempt.has(campaignId)) continue;
      const counted = workspace.campaigns.filter(
        (each) => each.tags.has(tag) && seenToday.has(each.campaignId) && !exempt.has(each.campaignId),
      );
      const count = counted.length;
      if (count >= max)
        return { limit: 'tag', tag, max, count, eligibleAgainAtMs: calendar.startOf(addDays(today, 1)) };
    }
    return null;
  };

  return {
    of(campaign: Campaign): CapHit | null {
      const seen = user.campaigns.find(({ campaignId }) => campaignId === campaign.campaignId);
      const own =
        campaign.frequency && seen ? (stopCap(campaign, seen, context) ?? daysCap(campaign, context)) : null;
      return own ?? tagCap(campaign);
    },
    shown: ({ campaignId }: Campaign) => void seenToday.add(campaignId),
  };
};
