import type { WireBanner } from '../../protocol/index.ts';
import { NEVER_EXPIRES } from '../../protocol/index.ts';
import { errorFacts, type Log } from '../log.ts';
import type { BannerUser } from '../store/store.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { AudienceMember } from './audience-member.ts';
import { audienceOf } from './audience-of.ts';
import type { BannerIds } from './banner-id.ts';
import type { Campaign, Variant } from './campaign.ts';
import { campaignOrder, placesFor } from './campaign-order.ts';
import { drawn, lotsOf } from './lot.ts';
import { type PersonaliseContext, personaliseContext } from './personalise-context.ts';

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
  const lots = lotsOf(workspaceId, campaignId, userId);
  return lots.control * 100 < controlPercentage ? null : (drawn(variants, lots.variant) ?? null);
};

/** A test send is never held out. */
const testVariantFor = (
  workspaceId: string,
  { campaignId, variants }: Campaign,
  userId: string,
): Variant | null => drawn(variants, lotsOf(workspaceId, campaignId, userId).variant) ?? null;

/** Not judged yet, or the eligibility round, 0 and up. */
const UNKNOWN = -2;
const NOT_FOR_THIS_USER = -1;

/** Answers which banner each placement has for one user, in the order asked. */
export const decide = (question: Question): [string, WireBanner | null][] => {
  const { workspace, externalUserId, user, now, ids, log } = question;
  const dismissals = new Map(user.dismissals.map((dismissal) => [dismissal.campaignId, dismissal]));
  let member: AudienceMember | undefined;
  let context: PersonaliseContext | undefined;

  const isMember = ({ campaignId, audience }: Campaign): boolean => {
    if (!audience) return true;
    member ??= audienceOf(
      {
        externalId: externalUserId,
        profile: user.profile,
        appId: question.appId,
        appVersion: question.appVersion,
      },
      now,
    );
    try {
      return audience(member);
    } catch (error) {
      // A user's own attribute names can trip a filter; such a user is not in the audience.
      log.warn({ campaign: campaignId, ...errorFacts(error) }, 'audience not decided');
      return false;
    }
  };

  /** `null` while a dismissal keeps the campaign away, else the eligibility round: 0, and one more a dismissal. */
  const roundOf = (campaign: Campaign): number | null => {
    const dismissal = dismissals.get(campaign.campaignId);
    if (!dismissal) return 0;
    if (campaign.reeligibleAfterMs === null) return null;
    return now >= dismissal.dismissedAtMs + campaign.reeligibleAfterMs ? dismissal.count : null;
  };

  const propertiesOf = (variant: Variant): WireBanner['properties'] => {
    const of = () => {
      context ??= personaliseContext(externalUserId, user.profile, question.deviceId, workspace.appPlatforms);
      return context;
    };
    return Object.fromEntries(
      variant.properties.map((property) => [
        property.name,
        'ready' in property ? property.ready : { type: property.type, value: property.fill(of()) },
      ]),
    );
  };

  /** `null` where a property cannot be filled in for this user. */
  const bannerOf = (campaign: Campaign, placementId: string, round: number): WireBanner | null => {
    const { workspaceId } = workspace;
    const { campaignId } = campaign;
    const isTestSend = campaign.testUsers.has(externalUserId);
    const choose = isTestSend ? testVariantFor : variantFor;
    const variant = choose(workspaceId, campaign, externalUserId);
    const isControl = variant === null;
    const variantId = variant?.variantId ?? null;
    try {
      return {
        id: ids.seal({ campaignId, variantId, placementId, round, isControl, isTestSend }),
        placement_id: placementId,
        is_control: isControl,
        is_test_send: isTestSend,
        expires_at: expiresAt(campaign, variant, now),
        properties: variant ? propertiesOf(variant) : null,
      };
    } catch (error) {
      log.warn(
        { workspace: workspaceId, campaign: campaignId, variant: variantId, ...errorFacts(error) },
        'banner not shown: a property cannot be filled in',
      );
      return null;
    }
  };

  const { campaigns, order } = campaignOrder(workspace);
  // By the campaign's place in the order: it is often a candidate for several placements of one question.
  const judged = new Int32Array(campaigns.length).fill(UNKNOWN);
  const judge = (campaign: Campaign): number => {
    const isTest = campaign.testUsers.size > 0 && campaign.testUsers.has(externalUserId);
    if (!isTest && !(isRunning(campaign, now) && isMember(campaign))) return NOT_FOR_THIS_USER;
    return roundOf(campaign) ?? NOT_FOR_THIS_USER;
  };

  return question.placementIds.map((placementId) => {
    for (const place of placesFor(order.get(placementId), campaigns, externalUserId)) {
      if (judged[place] === UNKNOWN) judged[place] = judge(campaigns[place]!);
      const round = judged[place]!;
      if (round === NOT_FOR_THIS_USER) continue;
      const banner = bannerOf(campaigns[place]!, placementId, round);
      if (banner) return [placementId, banner];
    }
    return [placementId, null];
  });
};
