import { NEVER_EXPIRES } from '../../protocol/index.ts';
import { errorFacts, type Log } from '../log.ts';
import type { BannerUser } from '../store/store.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { AudienceMember } from './audience-member.ts';
import { type Asker, audienceOf } from './audience-of.ts';
import type { BannerIds } from './banner-id.ts';
import { bannerText } from './banner-text.ts';
import { bucketsOf, pickWeighted } from './bucketing.ts';
import type { Campaign, Variant } from './campaign.ts';
import { campaignOrder, placesFor } from './campaign-order.ts';
import { type PersonaliseContext, personaliseContext } from './personalise-context.ts';
import { mayMatch } from './quick-checks.ts';
import type { TellUnfilled } from './unfilled.ts';

export interface Question {
  workspace: Workspace;
  externalUserId: string;
  user: BannerUser;
  appId: string;
  appVersion: string;
  deviceId: string | undefined;
  placementIds: readonly string[];
  now: number;
  ids: BannerIds;
  log: Log;
  tellUnfilled: TellUnfilled;
}

const isRunning = ({ status, startsAtMs, endsAtMs }: Campaign, now: number) =>
  status === 'active' && (startsAtMs === null || startsAtMs <= now) && (endsAtMs === null || now < endsAtMs);

/** Unix seconds of whatever comes first: the variant's time or the campaign's end. */
const expiresAt = (campaign: Campaign, variant: Variant | null, now: number): number => {
  const ends: number[] = [];
  if (variant?.expiresAfterSeconds != null) ends.push(Math.floor(now / 1000) + variant.expiresAfterSeconds);
  if (campaign.endsAtMs !== null && campaign.endsAtMs > now) ends.push(Math.floor(campaign.endsAtMs / 1000));
  return ends.length > 0 ? Math.min(...ends) : NEVER_EXPIRES;
};

/** The variant for a user, or `null` for one who is held out. */
const variantFor = (workspaceId: string, campaign: Campaign, userId: string): Variant | null => {
  const { campaignId, controlPercentage, variants } = campaign;
  if (controlPercentage === 0 && variants.length === 1) return variants[0] ?? null;
  const buckets = bucketsOf(workspaceId, campaignId, userId);
  return buckets.control * 100 < controlPercentage ? null : (pickWeighted(variants, buckets.variant) ?? null);
};

/** A test send is never held out. */
const testVariantFor = (
  workspaceId: string,
  { campaignId, variants }: Campaign,
  userId: string,
): Variant | null => pickWeighted(variants, bucketsOf(workspaceId, campaignId, userId).variant) ?? null;

/** Not judged yet, or the eligibility round, 0 and up. */
const UNKNOWN = -2;
const NOT_FOR_THIS_USER = -1;

/** Answers which banner each placement has for one user, `null` where none: the answer's `banners` as JSON, in the order asked. */
export const decide = (question: Question): string => {
  const { workspace, externalUserId, user, now, ids, log, tellUnfilled } = question;
  const asker: Asker = {
    externalId: externalUserId,
    profile: user.profile,
    appId: question.appId,
    appVersion: question.appVersion,
  };
  let member: AudienceMember | undefined;
  let context: PersonaliseContext | undefined;

  const isMember = ({ campaignId, audience }: Campaign): boolean => {
    if (!audience) return true;
    if (!mayMatch(audience.clauses, asker, now)) return false;
    member ??= audienceOf(asker, now);
    try {
      return audience.matches(member);
    } catch (error) {
      // A user's own attribute names can trip a filter; such a user is not in the audience.
      log.warn({ campaign: campaignId, ...errorFacts(error) }, 'audience not decided');
      return false;
    }
  };

  /** `null` while a dismissal keeps the campaign away, else the eligibility round. */
  const roundOf = (campaign: Campaign): number | null => {
    const known = user.campaigns.find(({ campaignId }) => campaignId === campaign.campaignId);
    if (!known || known.lastDismissalMs === null) return 0;
    if (campaign.reeligibleAfterMs === null) return null;
    return now >= known.lastDismissalMs + campaign.reeligibleAfterMs ? known.round : null;
  };

  const contextOf = (): PersonaliseContext => {
    context ??= personaliseContext(externalUserId, user.profile, question.deviceId, workspace.appPlatforms);
    return context;
  };

  /** `null` where a property cannot be filled in for this user. */
  const bannerOf = (
    campaign: Campaign,
    placementId: string,
    placement: string,
    round: number,
  ): string | null => {
    const { workspaceId } = workspace;
    const { campaignId } = campaign;
    const isTestSend = campaign.testUsers.has(externalUserId);
    const choose = isTestSend ? testVariantFor : variantFor;
    const variant = choose(workspaceId, campaign, externalUserId);
    const isControl = variant === null;
    const variantId = variant?.variantId ?? null;
    try {
      return bannerText({
        id: ids.seal({ campaignId, variantId, placementId, round, isControl, isTestSend }),
        placement,
        isControl,
        isTestSend,
        expiresAt: expiresAt(campaign, variant, now),
        properties: variant ? variant.properties(contextOf) : null,
      });
    } catch (error) {
      tellUnfilled({ workspace: workspaceId, campaign: campaignId, variant: variantId }, error, now);
      return null;
    }
  };

  const ordered = campaignOrder(workspace);
  const { campaigns, notes: judged } = ordered;
  const found = ordered.candidates(asker, now);
  // By the campaign's place in the order: it is often a candidate for several placements of one question.
  judged.fill(UNKNOWN);
  const judge = (campaign: Campaign): number => {
    const isTest = campaign.testUsers.size > 0 && campaign.testUsers.has(externalUserId);
    if (!isTest && !(isRunning(campaign, now) && isMember(campaign))) return NOT_FOR_THIS_USER;
    return roundOf(campaign) ?? NOT_FOR_THIS_USER;
  };

  const bestFor = (placementId: string, placement: string): string | null => {
    for (const place of placesFor(ordered, placementId, found, externalUserId)) {
      if (judged[place] === UNKNOWN) judged[place] = judge(campaigns[place]!);
      const round = judged[place]!;
      if (round === NOT_FOR_THIS_USER) continue;
      const banner = bannerOf(campaigns[place]!, placementId, placement, round);
      if (banner !== null) return banner;
    }
    return null;
  };

  let text = '';
  for (const placementId of question.placementIds) {
    const placement = JSON.stringify(placementId);
    text += `${text === '' ? '{' : ','}${placement}:${bestFor(placementId, placement)}`;
  }
  return `${text}}`;
};
