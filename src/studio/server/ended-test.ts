import type { ArmResults, CampaignResults } from '../../service/index.ts';
import type { CampaignJson } from '../campaign/campaign-json.ts';
import { sharesOf } from '../campaign/shares.ts';

/** An A/B test when it was ended. */
export interface FrozenTest {
  /** As it ran. */
  campaign: CampaignJson;
  counts: CampaignResults;
}

/** The campaign with one variant for everyone. The others stay, with a share of 0, so that their results keep a name. */
export const rolledOut = (campaign: CampaignJson, winner: string, keepsControl: boolean): CampaignJson => ({
  ...campaign,
  control_percentage: keepsControl ? (campaign.control_percentage ?? null) : null,
  variants: campaign.variants.map((each) => ({ ...each, weight: each.variant_id === winner ? 1 : 0 })),
});

/** The variant that everyone outside the control group gets; `null` if there are several. */
export const soleVariant = (campaign: CampaignJson): { id: string; name: string } | null => {
  const [first, ...others] = sharesOf(campaign).flatMap(({ variantId, name, percent }) =>
    variantId !== null && percent > 0 ? [{ id: variantId, name }] : [],
  );
  return first && others.length === 0 ? first : null;
};

/** What came after a test was ended, of everyone outside the control group or of the control group. */
export interface SinceEnd {
  isControl: boolean;
  /** Users who were exposed for the first time. */
  users: number;
  impressions: number;
  clicks: number;
  /** Users who reached each goal, also those who saw the test. */
  converted: number[];
}

/**
 * What was counted since a test was ended. Not by variant: users keep the one that they saw first, although all see the winner.
 */
export const sinceEnd = (frozen: FrozenTest, now: CampaignResults): SinceEnd[] =>
  [false, true].flatMap((isControl): SinceEnd[] => {
    const armsIn = ({ arms }: CampaignResults) =>
      arms.filter(({ variantId }) => (variantId === null) === isControl);
    if (armsIn(now).length === 0) return [];
    /** Erasure may leave less than there was. */
    const added = (count: (arm: ArmResults) => number) => {
      const total = (results: CampaignResults) => armsIn(results).reduce((sum, arm) => sum + count(arm), 0);
      return Math.max(0, total(now) - total(frozen.counts));
    };
    return [
      {
        isControl,
        users: added(({ exposed }) => exposed),
        impressions: added(({ impressions }) => impressions),
        clicks: added(({ clicks }) => clicks),
        converted: (frozen.campaign.conversions ?? []).map((_, goal) =>
          added(({ goals }) => goals[goal]?.converted ?? 0),
        ),
      },
    ];
  });
