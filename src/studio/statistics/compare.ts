import { NO_COUNTS } from '../../protocol/index.ts';
import { type CampaignJson, variantName } from '../campaign/campaign-json.ts';
import { getShares } from '../campaign/shares.ts';
import { type Difference, difference, getMean } from './confidence-sequence.ts';
import { type Arm, getMetrics, type Metric, type ResultCounts } from './metrics.ts';
import { sampleRatioMismatchPValue } from './sample-ratio.ts';

const ALPHA = 0.05;
/** Planned sample size if the campaign sets none. */
const DEFAULT_PLAN = 5_000;
/** Minimum users of an arm for the normal approximation. */
export const MIN_USERS = 50;
/** Minimum converted users, and unconverted users. */
const MIN_EACH = 5;
/** Significance level of the SRM test, stricter than for metrics because false alarms are costly. */
const RATIO_ALPHA = 0.01;

export interface Comparison extends Omit<Metric, 'appliesToControl' | 'countConverted' | 'toSample'> {
  /** Index of the compared arm in `arms`. */
  treatment: number;
  /** Index of the arm that it is compared with. */
  baseline: number;
  /** Means of the arms: rates from 0 to 1, or revenue per user. */
  means: [number, number];
  users: number;
  /** Relative difference from the baseline mean, such as 0.2 for 6% compared with 5%; `null` if the baseline mean is 0. */
  lift: number | null;
  /** Absolute difference; `null` if there are too few users. */
  difference: Difference | null;
}

export interface ComparedResults {
  /** Variants in the campaign's order, then the control group. */
  arms: Arm[];
  comparisons: Comparison[];
  /** SRM test; `null` if there is only one arm, no users yet, or the shares changed. */
  ratio: { p: number; isSuspicious: boolean } | null;
  /** Whether variants, weights or the control group changed after the first exposure. */
  isRedivided: boolean;
}

/** Versions of a campaign since its first exposure, oldest first. */
type PreviousVersions = readonly Pick<CampaignJson, 'variants' | 'control_percentage'>[];

const toDivisionKey = ({ variants, control_percentage }: PreviousVersions[number]): string =>
  JSON.stringify([
    control_percentage ?? 0,
    variants.map(({ variant_id, weight }) => [variant_id, weight ?? 1]),
  ]);

const toArms = (campaign: CampaignJson, counts: ResultCounts, previous: PreviousVersions): Arm[] => {
  const goals = (campaign.conversions ?? []).map(() => ({
    converted: 0,
    revenue: 0,
    revenueSumOfSquares: 0,
  }));
  const shares = getShares(campaign);
  const current = shares.map(({ variantId, name, percent }): Arm => {
    const found = counts.arms.find((arm) => arm.variantId === variantId);
    return { ...NO_COUNTS, goals, ...found, variantId, name, share: percent };
  });
  // Includes removed variants with their name and position, so that the baseline stays the same.
  const variants = [...previous, campaign].flatMap((each) => each.variants);
  const formatRemovedName = (id: string) => {
    const variant = variants.findLast(({ variant_id }) => variant_id === id);
    return `${variant ? variantName(variant) : id} (removed)`;
  };
  const gone = counts.arms.filter((arm) => !shares.some(({ variantId }) => variantId === arm.variantId));
  const removed = gone.map(
    (arm): Arm => ({
      ...arm,
      name: arm.variantId === null ? 'Control' : formatRemovedName(arm.variantId),
      share: 0,
    }),
  );
  const getPosition = ({ variantId }: Arm) => {
    const place = variants.findIndex(({ variant_id }) => variant_id === variantId);
    return variantId === null ? variants.length + 1 : place < 0 ? variants.length : place;
  };
  return [...current, ...removed].sort((one, other) => getPosition(one) - getPosition(other));
};

/** Returns whether an arm has enough users. Also required for revenue, whose variance is unknown with a single buyer. */
const hasEnough = ({ exposed }: Arm, converted: number): boolean =>
  exposed >= MIN_USERS && converted >= MIN_EACH && exposed - converted >= MIN_EACH;

/** Returns the pairs to compare as indexes of arms: each variant with the first variant, then with the control group. */
const getPairs = (
  arms: readonly Arm[],
  appliesToControl: boolean,
): [treatment: number, baseline: number][] => {
  const variants = arms.flatMap(({ variantId }, index) => (variantId === null ? [] : [index]));
  const control = arms.findIndex(({ variantId }) => variantId === null);
  const [first, ...others] = variants;
  return [
    ...others.map((treatment): [number, number] => [treatment, first!]),
    ...(appliesToControl && control >= 0
      ? variants.map((treatment): [number, number] => [treatment, control])
      : []),
  ];
};

/** Returns the number of users who saw a variant, without the control group, as in the campaign list. */
export const countExposedUsers = (arms: readonly Arm[]): number =>
  arms.reduce((sum, { variantId, exposed }) => sum + (variantId === null ? 0 : exposed), 0);

/** Compares the sizes of groups with their shares. Returns `null` if there are no users or fewer than two groups. */
export const compareSampleRatio = (
  arms: readonly Pick<Arm, 'share' | 'exposed'>[],
): ComparedResults['ratio'] => {
  const divided = arms.filter(({ share }) => share > 0);
  const exposed = divided.map((arm) => arm.exposed);
  if (divided.length < 2 || exposed.every((count) => count === 0)) return null;
  const total = divided.reduce((sum, { share }) => sum + share, 0);
  const p = sampleRatioMismatchPValue(
    exposed,
    divided.map(({ share }) => share / total),
  );
  return { p, isSuspicious: p < RATIO_ALPHA };
};

/**
 * Compares each variant with the first variant, and with the control group if the metric applies to it. Skips the SRM test if the
 * shares changed, because users keep their group and so the sizes mix several splits.
 */
export const compareResults = (
  campaign: CampaignJson,
  counts: ResultCounts,
  previous: PreviousVersions = [],
): ComparedResults => {
  const arms = toArms(campaign, counts, previous);
  const isRedivided = previous.some((each) => toDivisionKey(each) !== toDivisionKey(campaign));
  const planned = campaign.target_sample_size ?? DEFAULT_PLAN;
  const comparisons = getMetrics(campaign, counts).flatMap(
    ({ metric, label, noun, unit, appliesToControl, countConverted, toSample }) => {
      const pairs = getPairs(arms, appliesToControl);
      // Applies the Bonferroni correction, because the metric has several comparisons.
      const alpha = ALPHA / pairs.length;
      return pairs.map(([treatment, baseline]): Comparison => {
        const pair = [arms[treatment]!, arms[baseline]!] as const;
        const samples = [toSample(pair[0]), toSample(pair[1])] as const;
        const means: [number, number] = [getMean(samples[0]), getMean(samples[1])];
        return {
          metric,
          label,
          noun,
          unit,
          treatment,
          baseline,
          means,
          users: samples[0].n + samples[1].n,
          lift: means[1] > 0 ? means[0] / means[1] - 1 : null,
          difference: pair.every((arm) => hasEnough(arm, countConverted(arm)))
            ? difference(...samples, planned, alpha)
            : null,
        };
      });
    },
  );
  return { arms, comparisons, ratio: isRedivided ? null : compareSampleRatio(arms), isRedivided };
};
