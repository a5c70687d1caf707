import type { CampaignText } from '../campaign/campaign-text.ts';
import { sharesOf } from '../campaign/shares.ts';
import { type Difference, difference, meanOf, type Sample } from './confidence-sequence.ts';
import { type Arm, type Counted, type Metric, metricsOf } from './metrics.ts';
import { sampleRatioP } from './sample-ratio.ts';

const ALPHA = 0.05;
/** Where nobody has said how many people should see it. */
const DEFAULT_PLAN = 5_000;
/** With fewer people, or fewer who did and who did not, the theory behind the interval does not hold yet. */
const MIN_PEOPLE = 50;
const MIN_EACH = 5;
/** Of the division of people: that good news is bad news nobody wants to hear twice a month. */
const RATIO_ALPHA = 0.01;

export interface Comparison extends Omit<Metric, 'isOfControl' | 'sampleOf'> {
  /** Arms by their position in `arms`. */
  one: number;
  other: number;
  /** Their means: shares from 0 to 1, or money a person. */
  means: [number, number];
  people: number;
  /** `null` where there are too few people to say anything. */
  difference: Difference | null;
}

export interface ComparedResults {
  /** Variants in the campaign's order, the control group last. */
  arms: Arm[];
  comparisons: Comparison[];
  /** `null` where there is one arm, or nobody yet. */
  ratio: { p: number; isSuspicious: boolean } | null;
}

const NO_COUNTS = { exposed: 0, impressions: 0, clicks: 0, clicked: 0, dismissals: 0, dismissed: 0 };

const armsOf = (campaign: CampaignText, counts: Counted): Arm[] => {
  const goals = (campaign.conversions ?? []).map(() => ({ converted: 0, revenue: 0, revenueSquares: 0 }));
  const shares = sharesOf(campaign);
  const known = shares.map(({ variantId, name, percent }): Arm => {
    const found = counts.arms.find((arm) => arm.variantId === variantId);
    return { ...NO_COUNTS, goals, ...found, variantId, name, share: percent };
  });
  // A variant that was taken out has been seen all the same.
  const gone = counts.arms.filter((arm) => !shares.some(({ variantId }) => variantId === arm.variantId));
  return [...known, ...gone.map((arm) => ({ ...arm, name: arm.variantId ?? 'Control', share: 0 }))];
};

const hasEnough = (sample: Sample, isRate: boolean): boolean =>
  sample.n >= MIN_PEOPLE && (!isRate || (sample.sum >= MIN_EACH && sample.n - sample.sum >= MIN_EACH));

/** Every variant against the control group, or for what it cannot have against the first variant. */
export const compareResults = (campaign: CampaignText, counts: Counted): ComparedResults => {
  const arms = armsOf(campaign, counts);
  const planned = campaign.planned_users ?? DEFAULT_PLAN;
  const control = arms.findIndex(({ variantId }) => variantId === null);
  const comparisons = metricsOf(campaign, counts).flatMap(
    ({ metric, label, noun, unit, isOfControl, sampleOf }) => {
      const other = isOfControl && control >= 0 ? control : 0;
      const against = arms.flatMap((arm, index) =>
        index === other || arm.variantId === null ? [] : [index],
      );
      return against.map((one): Comparison => {
        const samples = [sampleOf(arms[one]!), sampleOf(arms[other]!)] as const;
        const isRate = unit === 'points';
        // Several chances to be wrong share the one that is allowed.
        const alpha = ALPHA / against.length;
        return {
          metric,
          label,
          noun,
          unit,
          one,
          other,
          means: [meanOf(samples[0]), meanOf(samples[1])],
          people: samples[0].n + samples[1].n,
          difference: samples.every((sample) => hasEnough(sample, isRate))
            ? difference(...samples, planned, alpha)
            : null,
        };
      });
    },
  );
  const divided = arms.filter(({ share }) => share > 0);
  const exposed = divided.map((arm) => arm.exposed);
  const total = divided.reduce((sum, { share }) => sum + share, 0);
  const isDivided = divided.length > 1 && exposed.some((count) => count > 0);
  const p = isDivided
    ? sampleRatioP(
        exposed,
        divided.map(({ share }) => share / total),
      )
    : 1;
  return { arms, comparisons, ratio: isDivided ? { p, isSuspicious: p < RATIO_ALPHA } : null };
};
