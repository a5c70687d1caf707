import type { ArmResults, CampaignResults } from '../../service/index.ts';
import type { CampaignJson, ConversionJson } from '../campaign/campaign-json.ts';
import { proportion, type Sample } from './confidence-sequence.ts';

/** An arm with its name; those that nobody has seen yet are there too. */
export interface Arm extends ArmResults {
  name: string;
  /** Of the whole audience, per cent, as the campaign says now. */
  share: number;
}

export type Counted = Pick<CampaignResults, 'arms' | 'currencies'>;

export interface Metric {
  /** `click`, `goal 0`, `revenue 0` … */
  metric: string;
  /** For the head of a line: `Bought “teapot”`. */
  label: string;
  /** For the middle of a sentence: `purchases of “teapot”`. */
  noun: string;
  unit: 'points' | 'money';
  /** Whether the control group can have it: it sees nothing that it could click. */
  isOfControl: boolean;
  /** Users who did it; of money, who spent any. */
  didOf(arm: Arm): number;
  sampleOf(arm: Arm): Sample;
}

/** What a goal is called over its numbers: `Bought “teapot”`. */
export const goalName = ({ event, product }: Pick<ConversionJson, 'event' | 'product'>): string =>
  product == null ? `Did “${event ?? ''}”` : `Bought “${product}”`;

/** What can be compared: clicks, and each goal with what was spent on it. */
export const metricsOf = (campaign: CampaignJson, counts: Counted): Metric[] => {
  const goals = (campaign.conversions ?? []).flatMap((goal, index): Metric[] => {
    const convertedOf = ({ goals: of }: Arm) => of[index]?.converted ?? 0;
    const rate: Metric = {
      metric: `goal ${index}`,
      label: goalName(goal),
      noun: goal.product == null ? `“${goal.event ?? ''}”` : `purchases of “${goal.product}”`,
      unit: 'points',
      isOfControl: true,
      didOf: convertedOf,
      sampleOf: (arm) => proportion(arm.exposed, convertedOf(arm)),
    };
    if (goal.product == null || counts.currencies.length !== 1) return [rate];
    const revenue: Metric = {
      metric: `revenue ${index}`,
      label: `Spent on “${goal.product}” a person, ${counts.currencies[0]}`,
      noun: `${counts.currencies[0]} spent on “${goal.product}” a person`,
      unit: 'money',
      isOfControl: true,
      didOf: convertedOf,
      sampleOf: ({ exposed, goals: of }) => ({
        n: exposed,
        sum: of[index]?.revenue ?? 0,
        sumOfSquares: of[index]?.revenueSquares ?? 0,
      }),
    };
    return [rate, revenue];
  });
  const click: Metric = {
    metric: 'click',
    label: 'Clicked',
    noun: 'clicks',
    unit: 'points',
    isOfControl: false,
    didOf: ({ clicked }) => clicked,
    sampleOf: ({ exposed, clicked }) => proportion(exposed, clicked),
  };
  return [click, ...goals];
};
