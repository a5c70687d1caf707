import type { NewBannerEvent } from '../profiles/events.ts';
import { type ReachedGoals, reachedByBoth } from './goals.ts';
import { addTallies, isEarlier, noTallies, type Tallies, talliesOf } from './measures.ts';

/** What one user did of a campaign: the rows of `user_results`. */
export interface UserResult {
  campaignId: string;
  /** Of the earliest impression; `null` in the control group. */
  variantId: string | null;
  /** Unix milliseconds. */
  firstImpressionMs: number | null;
  tallies: Tallies;
  /** Tallies of the dimensions that a step has read or changed, such as `day:2026-03-01`. */
  dimensions: Map<string, Tallies>;
  goals: ReachedGoals;
  /** The first impressions after which `goals` were counted. */
  countedFirstsMs: number[];
}

export const createUserResult = (campaignId: string): UserResult => ({
  campaignId,
  variantId: null,
  firstImpressionMs: null,
  tallies: noTallies(),
  dimensions: new Map(),
  goals: {},
  countedFirstsMs: [],
});

/** What of a banner event its dimensions are. */
export type DimensionsOfEvent = Pick<NewBannerEvent, 'day' | 'placementId' | 'language'>;

export const dimensionsOf = ({ day, placementId, language }: DimensionsOfEvent): string[] => [
  `day:${day}`,
  `placement:${placementId}`,
  ...(language === null ? [] : [`language:${language}`]),
];

/** Adds events that are alike, or with a negative number subtracts them. */
export const addEvents = (
  result: UserResult,
  event: DimensionsOfEvent & Pick<NewBannerEvent, 'eventType'>,
  times: number,
): void => {
  const added = talliesOf(event.eventType, times);
  addTallies(result.tallies, added);
  for (const dimension of dimensionsOf(event)) {
    const tallies = result.dimensions.get(dimension) ?? noTallies();
    addTallies(tallies, added);
    result.dimensions.set(dimension, tallies);
  }
};

type FirstImpression = Pick<UserResult, 'variantId' | 'firstImpressionMs'>;

/** Makes an impression the first one if it is earlier. Returns whether it was. */
export const moveFirst = (result: UserResult, { variantId, firstImpressionMs }: FirstImpression): boolean => {
  if (!isEarlier({ variantId, firstImpressionMs }, result)) return false;
  Object.assign(result, { variantId, firstImpressionMs });
  return true;
};

/** Adds all that another user did, who became this one. */
export const mergeResults = (kept: UserResult, merged: UserResult): void => {
  moveFirst(kept, merged);
  addTallies(kept.tallies, merged.tallies);
  for (const [dimension, added] of merged.dimensions) {
    const tallies = kept.dimensions.get(dimension) ?? noTallies();
    addTallies(tallies, added);
    kept.dimensions.set(dimension, tallies);
  }
  kept.goals = reachedByBoth(kept.goals, merged.goals);
  kept.countedFirstsMs.push(...merged.countedFirstsMs);
};
