import type { WireBanner } from '../../protocol/index.ts';
import { NEVER_EXPIRES } from '../../protocol/index.ts';
import { errorFacts, type Log } from '../log.ts';
import type { BannerUser } from '../store/store.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { AudienceMember } from './audience-member.ts';
import { audienceOf } from './audience-of.ts';
import type { BannerIds } from './banner-id.ts';
import type { Campaign, Variant } from './campaign.ts';
import { candidatesFor } from './candidates.ts';
import { drawn, lot } from './lot.ts';
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

/** Stable by user: who is held out today is held out tomorrow, on every replica. */
const isHeldOut = (workspaceId: string, { campaignId, controlPercentage }: Campaign, userId: string) =>
  controlPercentage > 0 && lot(workspaceId, campaignId, 'control', userId) * 100 < controlPercentage;

const variantFor = (
  workspaceId: string,
  { campaignId, variants }: Campaign,
  userId: string,
): Variant | null => {
  if (variants.length === 1) return variants[0] ?? null;
  return drawn(variants, lot(workspaceId, campaignId, 'variant', userId)) ?? null;
};

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
    context ??= personaliseContext(externalUserId, user.profile, question.deviceId, workspace.appPlatforms);
    const filled = context;
    return Object.fromEntries(
      variant.properties.map(({ name, type, fill }) => [name, { type, value: fill(filled) }]),
    );
  };

  /** `null` where a property cannot be filled in for this user. */
  const bannerOf = (campaign: Campaign, placementId: string, round: number): WireBanner | null => {
    const { workspaceId } = workspace;
    const { campaignId } = campaign;
    const isTestSend = campaign.testUsers.has(externalUserId);
    const isControl = !isTestSend && isHeldOut(workspaceId, campaign, externalUserId);
    const variant = isControl ? null : variantFor(workspaceId, campaign, externalUserId);
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

  // Every placement has the same order of campaigns, so one pass over them fills all: each is judged at most once.
  const banners = new Map<string, WireBanner>();
  let open = question.placementIds;
  for (const campaign of candidatesFor(workspace, externalUserId)) {
    if (!open.some((placementId) => campaign.placements.has(placementId))) continue;
    const isShowable =
      campaign.testUsers.has(externalUserId) || (isRunning(campaign, now) && isMember(campaign));
    const round = isShowable ? roundOf(campaign) : null;
    if (round === null) continue;
    open = open.filter((placementId) => {
      const banner = campaign.placements.has(placementId) && bannerOf(campaign, placementId, round);
      if (banner) banners.set(placementId, banner);
      return !banner;
    });
    if (open.length === 0) break;
  }
  return question.placementIds.map((placementId) => [placementId, banners.get(placementId) ?? null]);
};
