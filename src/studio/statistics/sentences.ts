import type { CampaignJson } from '../campaign/campaign-json.ts';
import { capitalize } from '../campaign/capitalize.ts';
import { formatCount, formatNumber, formatPercent } from '../campaign/format-number.ts';
import { type ComparedResults, type Comparison, countExposedUsers } from './compare.ts';
import { formatMoney, formatPoints, formatSignedMoney, formatSignedPoints } from './format-difference.ts';

/** Formats an absolute value, such as `1.7`. Rates are in percentage points. */
const formatAbsolute = (value: number, unit: Comparison['unit']): string =>
  unit === 'money' ? formatMoney(Math.abs(value)) : formatPoints(Math.abs(value) * 100);

const formatUnit = (unit: Comparison['unit']) => (unit === 'money' ? '' : ' percentage points');

/** Returns whether the treatment is significantly higher than the baseline. */
export const isHigher = ({ difference }: Comparison) => difference !== null && difference.low > 0;
export const isLower = ({ difference }: Comparison) => difference !== null && difference.high < 0;

const getArmNames = ({ treatment, baseline }: Comparison, { arms }: ComparedResults) => {
  const name = (index: number) => (arms[index]!.variantId === null ? 'the control group' : arms[index]!.name);
  return [name(treatment), name(baseline)] as const;
};

const formatSigned = (value: number, unit: Comparison['unit']): string =>
  unit === 'money' ? formatSignedMoney(value) : formatSignedPoints(value * 100);

/** Formats an interval, such as `−0.4 to +9.2 percentage points`. */
export const formatInterval = ({ difference, unit }: Comparison): string =>
  difference
    ? `${formatSigned(difference.low, unit)} to ${formatSigned(difference.high, unit)}${formatUnit(unit)}`
    : 'not enough users';

/** Describes a significant difference, without and with its interval. */
const describeWin = (compared: Comparison, results: ComparedResults) => {
  const { noun, unit } = compared;
  const [treatment, baseline] = getArmNames(compared, results);
  const { low, high } = compared.difference!;
  const [winner, loser] = isHigher(compared) ? [treatment, baseline] : [baseline, treatment];
  const [least, most] = isHigher(compared) ? [low, high] : [high, low];
  const interval = `${formatAbsolute(least, unit)} to ${formatAbsolute(most, unit)}${formatUnit(unit)}`;
  return {
    sentence: `${winner} beats ${loser} in ${noun}`,
    details: `${winner} beats ${loser} by ${interval} in ${noun}`,
  };
};

/**
 * Returns a sentence for each variant and goal whose rate is significantly lower than that of the control group. Empty if the
 * split was changed, because users of a later split are newer and had less time to convert.
 */
export const describeLossesToControl = (results: ComparedResults): string[] =>
  results.comparisons
    .filter(
      (each) =>
        !results.isRedivided &&
        each.unit === 'points' &&
        results.arms[each.baseline]!.variantId === null &&
        isLower(each),
    )
    .map((each) => `${capitalize(describeWin(each, results).details)}.`);

/**
 * Returns the ID of the variant that is significantly better than the first one, or else the first one if another is worse, in the
 * first goal or, without goals, in clicks. Returns `null` if no difference is significant.
 */
export const findLeader = ({
  arms,
  comparisons,
}: Pick<ComparedResults, 'arms' | 'comparisons'>): string | null => {
  const metric = arms[0]!.goals.length > 0 ? 'goal 0' : 'click';
  const compared = comparisons.filter((each) => each.metric === metric && each.baseline === 0);
  const [best] = compared
    .filter(isHigher)
    .sort((one, other) => other.difference!.estimate - one.difference!.estimate);
  if (best) return arms[best.treatment]!.variantId;
  return compared.some(isLower) ? arms[0]!.variantId : null;
};

/** Returns the findings of a metric compared with one arm: winners, their intervals, then undecided comparisons. */
const describeComparisons = (
  of: readonly Comparison[],
  results: ComparedResults,
): { wins: string[]; details: string[] } => {
  const { noun: what, baseline } = of[0]!;
  const clear = of.filter((each) => isHigher(each) || isLower(each));
  const open = of.filter((each) => !clear.includes(each));
  const wins = clear.map((each) => describeWin(each, results));
  const details = wins.map((win) => win.details);
  const [first] = open;
  if (first) {
    const arms = new Set([...open.map(({ treatment }) => treatment), first.baseline]);
    const users = [...arms].reduce((sum, index) => sum + results.arms[index]!.exposed, 0);
    const variants =
      clear.length > 0 || results.arms[baseline]!.variantId !== null
        ? ` of ${formatList(open.map((each) => getArmNames(each, results)[0]))}`
        : '';
    const against = getArmNames(first, results)[1];
    details.push(`${what}${variants} against ${against}: undecided, ${formatNumber(users)} users`);
  }
  return { wins: wins.map(({ sentence }) => sentence), details };
};

const formatList = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

const hasEnded = ({ ends_at }: CampaignJson, nowMs: number) =>
  ends_at != null && Date.parse(ends_at) <= nowMs;

/** Result of a campaign as a short sentence with its evidence. */
export interface Headline {
  sentence: string;
  details: string[];
}

const TOO_FEW_USERS = 'Not enough users for a winner.';

/** Returns the headline before the planned sample size or, without a plan, before the end; otherwise `null`. */
const tooEarly = (campaign: CampaignJson, seen: number, nowMs: number): Headline | null => {
  const { target_sample_size: planned, ends_at } = campaign;
  const saw = formatCount(seen, 'user');
  const early = (...details: string[]) => ({ sentence: 'Not enough data yet.', details });
  if (planned != null) {
    const ofPlanned = `${saw} of the planned ${formatNumber(planned)} have seen it.`;
    if (seen >= planned) return null;
    if (hasEnded(campaign, nowMs)) return { sentence: TOO_FEW_USERS, details: [`It ended. ${ofPlanned}`] };
    return early(ofPlanned);
  }
  if (hasEnded(campaign, nowMs)) return null;
  return ends_at != null
    ? early(`${saw} have seen it, and it has not ended.`)
    : early(`${saw} have seen it.`, 'Set an end or a target sample size to get a winner.');
};

/** Returns the result of a campaign. Names a winner, by goals if any, only once the planned sample size is reached. */
export const headline = (campaign: CampaignJson, results: ComparedResults, nowMs: number): Headline => {
  const { arms, comparisons } = results;
  const seen = countExposedUsers(arms);
  if (seen === 0) return { sentence: 'No impressions yet.', details: [] };
  if (comparisons.length === 0) {
    const [arm] = arms;
    const users = formatCount(seen, 'user');
    const rate = formatPercent(arm && arm.exposed > 0 ? arm.clicked / arm.exposed : 0);
    const missing = arms.some(({ variantId }) => variantId === null)
      ? 'The control group has no clicks. Add a goal to compare it.'
      : 'Nothing to compare. Add a variant, or a control group and a goal.';
    return { sentence: `${users} saw it, ${rate} clicked.`, details: [missing] };
  }
  const early = tooEarly(campaign, seen, nowMs);
  if (early !== null) return early;
  const rates = comparisons.filter(({ unit }) => unit === 'points');
  const ofGoals = rates.filter(({ metric }) => metric !== 'click');
  const compared = ofGoals.length > 0 ? ofGoals : rates;
  const groups = Map.groupBy(compared, ({ metric, baseline }) => `${metric} ${baseline}`);
  const findings = [...groups.values()].map((of) => describeComparisons(of, results));
  const wins = findings.flatMap((each) => each.wins);
  const undecided = compared.every(({ difference }) => difference === null)
    ? TOO_FEW_USERS
    : 'No significant difference.';
  return {
    sentence: wins.length > 0 ? `${capitalize(wins.join('; '))}.` : undecided,
    details: findings.flatMap(({ details }) => details.map((each) => `${capitalize(each)}.`)),
  };
};
