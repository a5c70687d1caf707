import { NEVER_EXPIRES } from '../../protocol/index.ts';
import type { BannerIdPayload, BannerIds } from './banner-id.ts';
import { assignVariant } from './bucketing.ts';
import type { Campaign } from './campaign.ts';
import { getCandidates, priorityOrder } from './campaign-order.ts';
import type { DecisionRequest } from './decision.ts';
import { createEligibilityCheck, isTestUser, toAudienceContext } from './eligibility.ts';
import { createFrequencyCapper } from './frequency.ts';
import { findHoldout } from './holdout.ts';
import { getLanguages, languageFor, localizeProperties } from './languages.ts';
import type { RenderProperties } from './personalise.ts';
import { findOverBudget, isOverBudget, type ProfileVersion, recordOverBudget } from './render-errors.ts';
import { type PersonaliseContext, personaliseContext } from './variables.ts';
import type { Variant } from './variant.ts';

/** Returns the earlier of the variant's expiry and the campaign's end, in Unix seconds. */
const expiresAt = (campaign: Campaign, variant: Variant, now: number): number => {
  const ends: number[] = [];
  if (variant.cacheTtlSeconds !== null) ends.push(Math.floor(now / 1000) + variant.cacheTtlSeconds);
  if (campaign.endsAtMs !== null && campaign.endsAtMs > now) ends.push(Math.floor(campaign.endsAtMs / 1000));
  return ends.length > 0 ? Math.min(...ends) : NEVER_EXPIRES;
};

/** Parts of a banner's JSON that are the same for all users. */
interface ConstantParts {
  campaignId: string;
  encryptedId: string;
  /** Start of the JSON, without the user tag of the ID. */
  start: string;
  /** JSON from the end of the ID to the value of `expires_at`. */
  middle: string;
}

/** Rounds whose parts are cached, because a page can dismiss its user's banners any number of times. */
const CACHED_ROUNDS = 16;
/** Parts by placement, for one variant in one language. */
const caches = new WeakMap<RenderProperties, { ids: BannerIds; byPlacement: Map<string, ConstantParts[]> }>();

/** Returns the constant parts of a banner. Caches them, because encryption costs more than the rest of a banner. */
const getConstantParts = (
  ids: BannerIds,
  properties: RenderProperties,
  payload: BannerIdPayload,
): ConstantParts => {
  const { campaignId, placementId, round, isControl, isTestSend } = payload;
  let cache = caches.get(properties);
  if (cache?.ids !== ids) {
    cache = { ids, byPlacement: new Map() };
    caches.set(properties, cache);
  }
  let known = cache.byPlacement.get(placementId);
  if (!known) {
    known = [];
    cache.byPlacement.set(placementId, known);
  }
  const index = round * 4 + (isControl ? 2 : 0) + (isTestSend ? 1 : 0);
  const cached = known[index];
  // The global holdout has a campaign ID of its own.
  if (cached?.campaignId === campaignId) return cached;
  const encryptedId = ids.encrypt(payload);
  const parts = {
    campaignId,
    encryptedId,
    start: `{"id":"${encryptedId}`,
    middle: `","placement_id":${JSON.stringify(placementId)},"is_control":${isControl},"is_test_send":${isTestSend},"expires_at":`,
  };
  if (round < CACHED_ROUNDS) known[index] = parts;
  return parts;
};

/**
 * Selects the banner of each placement for one user; `null` if none. Returns the `banners` of the response as JSON, in request
 * order.
 */
export const selectBanners = (request: DecisionRequest): string => {
  const { workspace, externalUserId, user, now, ids, logRenderError, trace } = request;
  const { workspaceId } = workspace;
  const order = priorityOrder(workspace);
  const { campaigns, eligibilities } = order;
  const checkEligibility = createEligibilityCheck(request, toAudienceContext(request));
  const caps = order.hasCaps ? createFrequencyCapper(request) : null;
  // Clears the eligibilities of the previous request. A campaign is evaluated once per request, even for several placements.
  eligibilities.fill(undefined);

  const profileVersion: ProfileVersion = {
    userId: externalUserId,
    profileMs: user.profile?.updatedAtMs ?? 0,
  };
  let context: PersonaliseContext | undefined;
  const getContext = (): PersonaliseContext => {
    context ??= personaliseContext(externalUserId, user.profile, request.deviceId, workspace.appPlatforms);
    return context;
  };

  let languages: string[] | undefined;
  const getLanguage = (campaign: Campaign, variant: Variant): string | null => {
    if (campaign.language === null) return null;
    languages ??= getLanguages(user.profile?.standard['language'], request.acceptLanguage);
    return languageFor(campaign, variant, languages);
  };

  let userTag: string | undefined;
  /** Returns the banner as JSON, or `null` if a property cannot be rendered for this user. `round` counts earlier dismissals. */
  const renderBanner = (campaign: Campaign, placementId: string, round: number): string | null => {
    const { campaignId } = campaign;
    const suspension = findOverBudget(campaign, profileVersion);
    if (suspension) {
      trace?.({ placementId, campaign, outcome: 'render_failed', ...suspension });
      return null;
    }
    const isTestSend = isTestUser(campaign, externalUserId);
    const holdout = isTestSend ? null : findHoldout(workspace, campaign, externalUserId, now);
    const byHoldout = holdout !== null;
    const assignment = assignVariant(workspaceId, campaign, externalUserId, isTestSend);
    const { variant } = assignment;
    const { variantId } = variant;
    const isControl = byHoldout || assignment.isControl;
    const language = getLanguage(campaign, variant);
    try {
      // Renders for the control group, too, because users whose properties cannot be rendered must not be compared with users who
      // see the banner.
      const renderProperties = localizeProperties(variant, language);
      const properties = renderProperties(getContext);
      const { encryptedId, start, middle } = getConstantParts(ids, renderProperties, {
        // Users in the global holdout do not count in the results of campaigns.
        campaignId: holdout?.campaignId ?? campaignId,
        round: byHoldout ? 0 : round,
        variantId: isControl ? null : variantId,
        placementId,
        isControl,
        isTestSend,
        language,
      });
      userTag ??= ids.getUserTag(externalUserId);
      trace?.({
        placementId,
        campaign,
        bannerId: encryptedId + userTag,
        ...(isControl ? { outcome: 'held_out', byHoldout } : { outcome: 'shown', variant, isTestSend }),
      });
      // Concatenates strings, because most of the JSON is constant text that `JSON.stringify` would scan character by character.
      return `${start}${userTag}${middle}${expiresAt(campaign, variant, now)},"properties":${isControl ? null : properties}}`;
    } catch (error) {
      // Does not record explain requests, so that they cannot halt a live campaign.
      const isHalted =
        !trace && isOverBudget(error) && recordOverBudget(campaign, profileVersion, { variantId, error });
      logRenderError(
        { workspace: workspaceId, campaign: campaignId, variant: variantId },
        error,
        now,
        isHalted,
      );
      trace?.({ placementId, campaign, outcome: 'render_failed', variantId, error });
      return null;
    }
  };

  const selectBanner = (placementId: string): string | null => {
    let best: { campaign: Campaign; banner: string } | null = null;
    for (const rank of getCandidates(order, placementId, externalUserId)) {
      const campaign = campaigns[rank]!;
      eligibilities[rank] ??= checkEligibility(campaign);
      const eligibility = eligibilities[rank];
      if (typeof eligibility === 'string') {
        trace?.({ placementId, campaign, outcome: eligibility });
        continue;
      }
      const cap = caps && !isTestUser(campaign, externalUserId) ? caps.of(campaign) : null;
      if (cap) trace?.({ placementId, campaign, outcome: 'frequency_capped', cap });
      else if (best) trace?.({ placementId, campaign, outcome: 'outranked', by: best.campaign });
      else {
        const banner = renderBanner(campaign, placementId, eligibility);
        if (banner === null) continue;
        caps?.shown(campaign);
        if (!trace) return banner;
        best = { campaign, banner };
      }
    }
    return best?.banner ?? null;
  };

  let text = '';
  for (const placementId of request.placementIds) {
    text += `${text === '' ? '{' : ','}${JSON.stringify(placementId)}:${selectBanner(placementId)}`;
  }
  return `${text}}`;
};
