import { COUNT_FIELDS } from '../../protocol/index.ts';
import type { ArmResults, CampaignResults } from '../../service/index.ts';
import type { CampaignJson, GoalJson } from '../campaign/campaign-json.ts';
import { proportion, type Sample } from './confidence-sequence.ts';

const { impression: _, ...actions } = COUNT_FIELDS;
/** Result fields of all event types except impressions, whose users are the base of all rates. */
export const COUNTS_EXCEPT_IMPRESSIONS = Object.values(actions);

/** Counts of an arm with its name. Arms without users are included. */
export interface Arm extends ArmResults {
  name: string;
  /** Current share of the audience, in percent. */
  share: number;
}

export type ResultCounts = Pick<CampaignResults, 'arms' | 'currencies'>;

export interface Metric {
  /** ID of the metric, such as `click`, `goal 0` or `revenue 0`. */
  metric: string;
  /** Row header, such as `Bought “teapot”`. */
  label: string;
  /** Name for use inside a sentence, such as `purchases of “teapot”`. */
  noun: string;
  unit: 'points' | 'money';
  /** Whether the metric applies to the control group, which cannot click. */
  appliesToControl: boolean;
  /** Returns the number of converted users, or of buyers for revenue. */
  countConverted(arm: Arm): number;
  toSample(arm: Arm): Sample;
}

/** Returns the label of a goal, such as `Bought “teapot”`. */
export const goalName = ({ event, product }: Pick<GoalJson, 'event' | 'product'>): string =>
  product == null ? `Did “${event ?? ''}”` : `Bought “${product}”`;

/** Returns the metrics of a campaign: clicks, then each goal with its revenue. */
export const getMetrics = (campaign: CampaignJson, counts: ResultCounts): Metric[] => {
  const goals = (campaign.conversions ?? []).flatMap((goal, index): Metric[] => {
    const countGoal = ({ goals: totals }: Arm) => totals[index]?.converted ?? 0;
    const rate: Metric = {
      metric: `goal ${index}`,
      label: goalName(goal),
      noun: goal.product == null ? `“${goal.event ?? ''}”` : `purchases of “${goal.product}”`,
      unit: 'points',
      appliesToControl: true,
      countConverted: countGoal,
      toSample: (arm) => proportion(arm.exposed, countGoal(arm)),
    };
    if (goal.product == null || counts.currencies.length !== 1) return [rate];
    const revenue: Metric = {
      metric: `revenue ${index}`,
      label: `Spent on “${goal.product}” per user, ${counts.currencies[0]}`,
      noun: `${counts.currencies[0]} spent on “${goal.product}” per user`,
      unit: 'money',
      appliesToControl: true,
      countConverted: countGoal,
      toSample: ({ exposed, goals: totals }) => ({
        n: exposed,
        sum: totals[index]?.revenue ?? 0,
        sumOfSquares: totals[index]?.revenueSumOfSquares ?? 0,
      }),
    };
    return [rate, revenue];
  });
  const click: Metric = {
    metric: 'click',
    label: 'Clicked',
    noun: 'clicks',
    unit: 'points',
    appliesToControl: false,
    countConverted: ({ clicked }) => clicked,
    toSample: ({ exposed, clicked }) => proportion(exposed, clicked),
  };
  return [click, ...goals];
};
