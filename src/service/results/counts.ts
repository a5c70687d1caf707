import { MEASURES } from '../measures.ts';
import type { RowOf } from '../sql/table.ts';
import type { CAMPAIGN_COUNTS, GoalCount, MeasureCounts, TotalsByGoal } from './tables.ts';
import { countsBefore, hasImpression, TOTAL, type UserResult, ZERO_COUNTS } from './user-result.ts';

/** Row of `campaign_counts`, or an increment of a row. */
export interface CampaignCount
  extends Pick<RowOf<typeof CAMPAIGN_COUNTS>, 'workspaceId' | 'campaignId' | 'variantId' | 'dimension'> {
  /** Number of events by measure. */
  events: MeasureCounts;
  /** Number of users with at least one event, by measure. */
  users: MeasureCounts;
}

const addDifference = (
  { events, users }: CampaignCount,
  before: Readonly<MeasureCounts>,
  after: Readonly<MeasureCounts>,
) => {
  for (let index = 0; index < MEASURES.length; index += 1) {
    const [one, other] = [before[index] ?? 0, after[index] ?? 0];
    events[index]! += other - one;
    users[index]! += Number(other > 0) - Number(one > 0);
  }
};

/** Collects differences to the counts of campaigns. Does not count users without an impression. */
export const createCountDeltas = () => {
  const campaigns = new Map<string, Map<string, CampaignCount>>();
  const goals = new Map<string, GoalCount>();

  /** Returns a function that adds the differences of a user's counts to the dimensions of a variant. */
  const createAdder = (workspaceId: string, campaignId: string, variantId: string) => {
    const key = `${workspaceId}\u001f${campaignId}\u001f${variantId}`;
    const dimensions = campaigns.get(key) ?? new Map<string, CampaignCount>();
    campaigns.set(key, dimensions);
    return (dimension: string, before: Readonly<MeasureCounts>, after: Readonly<MeasureCounts>) => {
      let count = dimensions.get(dimension);
      if (!count) {
        count = {
          workspaceId,
          campaignId,
          variantId,
          dimension,
          events: [...ZERO_COUNTS],
          users: [...ZERO_COUNTS],
        };
        dimensions.set(dimension, count);
      }
      addDifference(count, before, after);
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
      const wasCounted = hasImpression(countsBefore(result, TOTAL));
      const isCounted = !isDeleted && hasImpression(counts.get(TOTAL));
      if (wasCounted && isCounted && variantBefore === variantId) {
        const add = createAdder(workspaceId, campaignId, variantId);
        for (const [dimension, each] of before.counts) add(dimension, each, counts.get(dimension)!);
        if (result.goals === before.goals) return;
      } else {
        if (wasCounted) {
          const add = createAdder(workspaceId, campaignId, variantBefore);
          for (const dimension of counts.keys()) add(dimension, countsBefore(result, dimension), ZERO_COUNTS);
        }
        if (isCounted) {
          const add = createAdder(workspaceId, campaignId, variantId);
          for (const [dimension, each] of counts) add(dimension, ZERO_COUNTS, each);
        }
      }
      if (wasCounted) addGoals(workspaceId, campaignId, variantBefore, before.goals, -1);
      if (isCounted) addGoals(workspaceId, campaignId, variantId, result.goals, 1);
    },
    /** Returns the non-zero differences. */
    campaigns: (): CampaignCount[] =>
      [...campaigns.values()]
        .flatMap((dimensions) => [...dimensions.values()])
        .filter(({ events, users }) => [...events, ...users].some((count) => count !== 0)),
    goals: (): GoalCount[] =>
      [...goals.values()].filter(
        ({ convertedUsers, revenue, revenueSumOfSquares }) =>
          convertedUsers !== 0 || revenue !== 0 || revenueSumOfSquares !== 0,
      ),
  };
};
