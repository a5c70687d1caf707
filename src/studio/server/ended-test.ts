import { mapKeys } from '../../protocol/index.ts';
import {
  type ArmResults,
  type CampaignResults,
  type EndedTestResults,
  EVENT_COUNT_NAMES,
  type EventCounts,
} from '../../service/index.ts';
import type { CampaignJson } from '../campaign/campaign-json.ts';
import { getVariantShares, type Share } from '../campaign/shares.ts';

/** Snapshot of an A/B test when it ended. */
export interface EndedTestSnapshot extends EndedTestResults {
  campaign: CampaignJson;
}

/**
 * Returns the campaign with one variant for all users. The other variants stay with a share of 0, so that their results keep a
 * name.
 */
export const rolledOut = (campaign: CampaignJson, winner: string, keepsControl: boolean): CampaignJson => ({
  ...campaign,
  control_percentage: keepsControl ? (campaign.control_percentage ?? null) : null,
  variants: campaign.variants.map((each) => ({ ...each, weight: each.variant_id === winner ? 1 : 0 })),
});

/** Returns the variant that all users outside the control group get; `null` if there are several. */
export const soleVariant = (campaign: CampaignJson): Share | null => {
  const [first, ...others] = getVariantShares(campaign);
  return first && others.length === 0 ? first : null;
};

/** Counts since the end of a test, for all variants together or for the control group. */
export interface SinceEnd extends EventCounts {
  isControl: boolean;
  /** Users whose first exposure was after the end. */
  users: number;
  /** Number of conversions by goal, including those of users who saw the test. */
  converted: number[];
}

/**
 * Returns the counts since the end of a test, all variants together, because users stay assigned to the variant that they saw
 * first although all see the winner.
 */
export const sinceEnd = (frozen: EndedTestSnapshot, now: CampaignResults): SinceEnd[] =>
  [false, true].flatMap((isControl): SinceEnd[] => {
    const armsIn = ({ arms }: CampaignResults) =>
      arms.filter(({ variantId }) => (variantId === null) === isControl);
    if (armsIn(now).length === 0) return [];
    /** Returns the increase of a count, at least 0 because erasure can reduce a count. */
    const added = (count: (arm: ArmResults) => number) => {
      const total = (results: CampaignResults) => armsIn(results).reduce((sum, arm) => sum + count(arm), 0);
      return Math.max(0, total(now) - total(frozen.counts));
    };
    return [
      {
        isControl,
        users: added(({ exposed }) => exposed),
        ...mapKeys(EVENT_COUNT_NAMES, (name) => added((arm) => arm[name])),
        converted: (frozen.campaign.conversions ?? []).map((_, goal) =>
          added(({ goals }) => goals[goal]?.converted ?? 0),
        ),
      },
    ];
  });
