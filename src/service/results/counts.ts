import { MEASURES } from '../profiles/measures.ts';
import type { TotalsByGoal } from './goals.ts';
import { countsBefore, hasImpression, type MeasureCounts, type UserResult } from './user-result.ts';

/** Row of `campaign_counts`, or an increment of a row. */
export interface CampaignCount {
  workspaceId: string;
  campaignId: string;
  /** ID of the variant; `''` for the control group. */
  variantId: string;
  dimension: string;
  /** Counts by column. */
  counts: Record<string, number>;
}

/** Row of `goal_counts`, or an increment of a row. */
export interface GoalCount {
  workspaceId: string;
  campaignId: string;
  variantId: string;
  goal: string;
  /** Day of the first conversion of each user, for example `2026-03-01`. */
  day: string;
  currencies: string;
  convertedUsers: number;
  revenue: number;
  revenueSumOfSquares: number;
}

const NO_COUNTS: Readonly<Record<string, number>> = Object.fromEntries(
  MEASURES.flatMap(({ events, users }) => [
    [events, 0],
    [users, 0],
  ]),
);

const addTo = (counts: Record<string, number>, added: MeasureCounts, sign: 1 | -1) => {
  for (const [index, { events, users }] of MEASURES.entries()) {
    const count = added[index] ?? 0;
    if (count === 0) continue;
    counts[events]! += sign * count;
    if (count > 0) counts[users]! += sign;
  }
};

/** Collects differences to the counts of campaigns. Does not count users without an impression. */
export const createCountDeltas = () => {
  const campaigns = new Map<string, Map<string, CampaignCount>>();
  const goals = new Map<string, GoalCount>();

  /** Returns a function that adds to the dimensions of a variant. */
  const createAdder = (workspaceId: string, campaignId: string, variantId: string) => {
    const key = `${workspaceId}\u001f${campaignId}\u001f${variantId}`;
    const dimensions = campaigns.get(key) ?? new Map<string, CampaignCount>();
    campaigns.set(key, dimensions);
    return (dimension: string, added: MeasureCounts, sign: 1 | -1) => {
      let count = dimensions.get(dimension);
      if (!count) {
        count = { workspaceId, campaignId, variantId, dimension, counts: { ...NO_COUNTS } };
        dimensions.set(dimension, count);
      }
      addTo(count.counts, added, sign);
    };
  };

  const addGoals = (
    workspaceId: string,
    campaignId: string,
    variantId: string,
    totals: TotalsByGoal,
    sign: 1 | -1,
  ) => {
    for (const [goal, [, revenue, currencies, day]] of Object.entries(totals)) {
      const key = JSON.stringify([workspaceId, campaignId, variantId, goal, day, currencies]);
      const row = { workspaceId, campaignId, variantId, goal, day, currencies };
      const count = goals.get(key) ?? { ...row, convertedUsers: 0, revenue: 0, revenueSumOfSquares: 0 };
      count.convertedUsers += sign;
      count.revenue += sign * revenue;
      count.revenueSumOfSquares += sign * revenue * revenue;
      goals.set(key, count);
    }
  };

  return {
    /** Adds the changes of a batch to the result of a user. */
    change(workspaceId: string, result: UserResult, { isDeleted = false } = {}): void {
      const { campaignId, counts, before } = result;
      const [variantBefore, variantId] = [before.variantId ?? '', result.variantId ?? ''];
      const wasCounted = hasImpression(countsBefore(result, ''));
      const isCounted = !isDeleted && hasImpression(counts.get(''));
      const isSameVariant = wasCounted && isCounted && variantBefore === variantId;
      const dimensions = [...(isSameVariant ? before.counts : counts).keys()];
      if (wasCounted) {
        const add = createAdder(workspaceId, campaignId, variantBefore);
        for (const dimension of dimensions) add(dimension, countsBefore(result, dimension), -1);
      }
      if (isCounted) {
        const add = createAdder(workspaceId, campaignId, variantId);
        for (const dimension of dimensions) add(dimension, counts.get(dimension)!, 1);
      }
      if (isSameVariant && result.goals === before.goals) return;
      if (wasCounted) addGoals(workspaceId, campaignId, variantBefore, before.goals, -1);
      if (isCounted) addGoals(workspaceId, campaignId, variantId, result.goals, 1);
    },
    /** Returns the non-zero differences. */
    campaigns: (): CampaignCount[] =>
      [...campaigns.values()]
        .flatMap((dimensions) => [...dimensions.values()])
        .filter(({ counts }) => Object.values(counts).some((count) => count !== 0)),
    goals: (): GoalCount[] =>
      [...goals.values()].filter(
        ({ convertedUsers, revenue, revenueSumOfSquares }) =>
          convertedUsers !== 0 || revenue !== 0 || revenueSumOfSquares !== 0,
      ),
  };
};
