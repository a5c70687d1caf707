import type { CampaignText } from '../campaign/campaign-text.ts';
import type { ComparedResults, Comparison } from './compare.ts';

const number = new Intl.NumberFormat('en-GB');
const oneDigit = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const money = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** A size without its sign: `1.7`, of shares in points of a per cent. */
const size = (value: number, unit: Comparison['unit']): string =>
  unit === 'money' ? money.format(Math.abs(value)) : oneDigit.format(Math.abs(value) * 100);

const unitWords = (unit: Comparison['unit']) => (unit === 'money' ? '' : ' points');

const isHigher = ({ difference }: Comparison) => difference !== null && difference.low > 0;
const isLower = ({ difference }: Comparison) => difference !== null && difference.high < 0;

const namesOf = ({ one, other }: Comparison, { arms }: ComparedResults) => {
  const name = (index: number) => (arms[index]!.variantId === null ? 'the control group' : arms[index]!.name);
  return [name(one), name(other)] as const;
};

/** `0.4 points lower to 9.2 points higher` */
export const rangeWords = ({ difference, unit }: Comparison): string => {
  if (!difference) return 'too few people to say';
  const { low, high } = difference;
  const words = unitWords(unit);
  if (low > 0) return `${size(low, unit)} to ${size(high, unit)}${words} higher`;
  if (high < 0) return `${size(high, unit)} to ${size(low, unit)}${words} lower`;
  return `${size(low, unit)}${words} lower to ${size(high, unit)}${words} higher`;
};

/** What is known of one metric against one arm: the winners with their intervals, then what is undecided. */
const decided = (of: readonly Comparison[], results: ComparedResults): string => {
  const [{ noun: what, metric }] = of as [Comparison];
  const clear = of.filter((each) => isHigher(each) || isLower(each));
  const open = of.filter((each) => !clear.includes(each));
  const wins = clear.map((each) => {
    const [one, other] = namesOf(each, results);
    const { low, high } = each.difference!;
    const [winner, loser] = isHigher(each) ? [one, other] : [other, one];
    const [least, most] = isHigher(each) ? [low, high] : [high, low];
    return `${winner} beats ${loser} by ${size(least, each.unit)} to ${size(most, each.unit)}${unitWords(each.unit)} in ${what}`;
  });
  if (open.length === 0) return wins.join('; ');
  const [first] = open as [Comparison];
  const arms = new Set([...open.map(({ one }) => one), first.other]);
  const people = [...arms].reduce((sum, index) => sum + results.arms[index]!.exposed, 0);
  const whose =
    clear.length > 0 || metric === 'click'
      ? ` of ${listed(open.map((each) => namesOf(each, results)[0]))}`
      : '';
  const against = namesOf(first, results)[1];
  return [...wins, `${what}${whose} against ${against}: undecided, ${number.format(people)} people`].join(
    '; ',
  );
};

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

const capital = (text: string) => text[0]!.toUpperCase() + text.slice(1);

/** Whether it was decided in advance that this is the moment to look: its end, or enough people. */
export const isPlannedMoment = (campaign: CampaignText, exposed: number, nowMs: number): boolean =>
  (campaign.ends_at != null && Date.parse(campaign.ends_at) <= nowMs) ||
  (campaign.planned_users != null && exposed >= campaign.planned_users);

/** What came of it in a sentence or two. No winner has a name before the planned end or the planned sample. */
export const headline = (campaign: CampaignText, results: ComparedResults, nowMs: number): string => {
  const { arms, comparisons } = results;
  const exposed = arms.reduce((sum, arm) => sum + arm.exposed, 0);
  if (exposed === 0) return 'Nobody has seen it yet.';
  const people = `${number.format(exposed)} ${exposed === 1 ? 'person' : 'people'}`;
  if (comparisons.length === 0) {
    const [arm] = arms;
    const rate = arm && arm.exposed > 0 ? oneDigit.format((100 * arm.clicked) / arm.exposed) : '0.0';
    return `${people} saw it, ${rate} % of them clicked. There is nothing to compare it with: a second variant or a control group would say what it brings about.`;
  }
  if (!isPlannedMoment(campaign, exposed, nowMs)) {
    const until =
      campaign.planned_users != null
        ? `${people} of the planned ${number.format(campaign.planned_users)} have seen it`
        : campaign.ends_at != null
          ? `${people} have seen it, and it has not ended`
          : `${people} have seen it; give it an end or a planned sample, and results will name a winner then`;
    return `Too early to name a winner: ${until}.`;
  }
  const metrics = Map.groupBy(
    comparisons.filter(({ unit }) => unit === 'points'),
    ({ metric }) => metric,
  );
  return `${capital([...metrics.values()].map((of) => decided(of, results)).join('; '))}.`;
};
