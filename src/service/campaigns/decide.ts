import { NEVER_EXPIRES } from '../../protocol/index.ts';
import { bannerText } from './banner-text.ts';
import type { Campaign, Variant } from './campaign.ts';
import { campaignOrder, rankedFor } from './campaign-order.ts';
import { chooseVariant } from './choose-variant.ts';
import { createCaps } from './frequency.ts';
import { askerOf, createJudge, isTestFor } from './judge.ts';
import { type PersonaliseContext, personaliseContext } from './personalise-context.ts';
import type { Question } from './question.ts';

/** Unix seconds of whatever comes first: the variant's time or the campaign's end. */
const expiresAt = (campaign: Campaign, variant: Variant | null, now: number): number => {
  const ends: number[] = [];
  if (variant?.expiresAfterSeconds != null) ends.push(Math.floor(now / 1000) + variant.expiresAfterSeconds);
  if (campaign.endsAtMs !== null && campaign.endsAtMs > now) ends.push(Math.floor(campaign.endsAtMs / 1000));
  return ends.length > 0 ? Math.min(...ends) : NEVER_EXPIRES;
};

/** Answers which banner each placement has for one user, `null` where none: the answer's `banners` as JSON, in the order asked. */
export const decide = (question: Question): string => {
  const { workspace, externalUserId, user, now, ids, logUnfilled, trace } = question;
  const { workspaceId } = workspace;
  let context: PersonaliseContext | undefined;

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
    const { campaignId } = campaign;
    const isTestSend = isTestFor(campaign, externalUserId);
    const variant = chooseVariant(workspaceId, campaign, externalUserId, isTestSend);
    const isControl = variant === null;
    const variantId = variant?.variantId ?? null;
    try {
      const id = ids.seal(
        { campaignId, variantId, placementId, round, isControl, isTestSend },
        externalUserId,
      );
      const text = bannerText({
        id,
        placement,
        isControl,
        isTestSend,
        expiresAt: expiresAt(campaign, variant, now),
        properties: variant ? variant.properties(contextOf) : null,
      });
      trace?.({
        placementId,
        campaign,
        bannerId: id,
        ...(variant ? { outcome: 'shown', variant, isTestSend } : { outcome: 'held_out' }),
      });
      return text;
    } catch (error) {
      logUnfilled({ workspace: workspaceId, campaign: campaignId, variant: variantId }, error, now);
      trace?.({ placementId, campaign, outcome: 'unfilled', variantId, error });
      return null;
    }
  };

  const ordered = campaignOrder(workspace);
  const { campaigns, verdicts } = ordered;
  const asker = askerOf(question);
  const judge = createJudge(question, asker);
  // A trace covers all campaigns. Without one, those are left out that cannot be for this user.
  const found = trace ? null : ordered.candidates(asker, now);
  const caps = ordered.hasCaps ? createCaps(question) : null;
  // By the campaign's rank in the order: it is often a candidate for several placements of one question.
  verdicts.fill(undefined);

  const bestFor = (placementId: string, placement: string): string | null => {
    let best: { campaign: Campaign; banner: string } | null = null;
    for (const rank of rankedFor(ordered, placementId, found, externalUserId)) {
      const campaign = campaigns[rank]!;
      verdicts[rank] ??= judge(campaign);
      const verdict = verdicts[rank];
      if (typeof verdict === 'string') {
        trace?.({ placementId, campaign, outcome: verdict });
        continue;
      }
      const cap = caps && !isTestFor(campaign, externalUserId) ? caps.of(campaign) : null;
      if (cap) trace?.({ placementId, campaign, outcome: 'capped', cap });
      else if (best) trace?.({ placementId, campaign, outcome: 'outranked', by: best.campaign });
      else {
        const banner = bannerOf(campaign, placementId, placement, verdict);
        if (banner === null) continue;
        caps?.shown(campaign);
        if (!trace) return banner;
        best = { campaign, banner };
      }
    }
    return best?.banner ?? null;
  };

  let text = '';
  for (const placementId of question.placementIds) {
    const placement = JSON.stringify(placementId);
    text += `${text === '' ? '{' : ','}${placement}:${bestFor(placementId, placement)}`;
  }
  return `${text}}`;
};
