import { MEASURES, type Tallies } from './measures.ts';
import type { UserResult } from './user-result.ts';

/** A row of `campaign_counts`, or what is added to one. */
export interface CampaignCount {
  workspaceId: string;
  campaignId: string;
  /** `''` for the control group. */
  variantId: string;
  dimension: string;
  /** By column. */
  counts: Record<string, number>;
}

/** A row of `goal_counts`, or what is added to one. */
export interface GoalCount {
  workspaceId: string;
  campaignId: string;
  variantId: string;
  goal: string;
  currencies: string;
  convertedUsers: number;
  revenue: number;
  revenueSumOfSquares: number;
}

const addTo = (counts: Record<string, number>, tallies: Tallies, sign: 1 | -1) => {
  for (const { events, users } of MEASURES) {
    counts[events] = (counts[events] ?? 0) + sign * tallies[events];
    counts[users] = (counts[users] ?? 0) + sign * Number(tallies[events] > 0);
  }
};

/**
 * Differences that users make to the counts of their campaigns: the result of a user before a change is subtracted, the one after it
 * added. A user without an impression is in no count.
 */
export const createCounts = () => {
  const campaigns = new Map<string, CampaignCount>();
  const goals = new Map<string, GoalCount>();

  const add = (workspaceId: string, result: UserResult, sign: 1 | -1) => {
    const { campaignId, tallies, dimensions } = result;
    if (tallies.impressions <= 0) return;
    const variantId = result.variantId ?? '';
    const addDimension = (dimension: string, added: Tallies) => {
      const key = JSON.stringify([workspaceId, campaignId, variantId, dimension]);
      const count = campaigns.get(key) ?? { workspaceId, campaignId, variantId, dimension, counts: {} };
      addTo(count.counts, added, sign);
      campaigns.set(key, count);
    };
    addDimension('', tallies);
    for (const [dimension, added] of dimensions) addDimension(dimension, added);
    for (const [goal, [, spent, currencies]] of Object.entries(result.goals)) {
      const key = JSON.stringify([workspaceId, campaignId, variantId, goal, currencies]);
      const row = { workspaceId, campaignId, variantId, goal, currencies };
      const count = goals.get(key) ?? { ...row, convertedUsers: 0, revenue: 0, revenueSumOfSquares: 0 };
      count.convertedUsers += sign;
      count.revenue += sign * spent;
      count.revenueSumOfSquares += sign * spent * spent;
      goals.set(key, count);
    }
  };

  return {
    add: (workspaceId: string, result: UserResult) => add(workspaceId, result, 1),
    subtract: (workspaceId: string, result: UserResult) => add(workspaceId, result, -1),
    /** Those that are not zero. */
    campaigns: (): CampaignCount[] =>
      [...campaigns.values()].filter(({ counts }) => Object.values(counts).some((count) => count !== 0)),
    goals: (): GoalCount[] =>
      [...goals.values()].filter(
        ({ convertedUsers, revenue, revenueSumOfSquares }) =>
          convertedUsers !== 0 || revenue !== 0 || revenueSumOfSquares !== 0,
      ),
  };
};
