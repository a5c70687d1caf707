// The holdout has no campaign of its own. Its results are stored as those of a campaign whose ID starts with `@`, which the
// workspace schema rejects for other campaigns. A changed start begins new results.

/** Returns the ID under which the results of a holdout with this start are stored. */
export const toHoldoutId = (startsAtMs: number): string => `@holdout:${startsAtMs}`;

/** Whether the results stored under a campaign ID are those of a holdout. */
export const isHoldoutId = (campaignId: string): boolean => campaignId.startsWith('@');

/** Variant of users who are not held out, in the holdout's results. */
export const HOLDOUT_TREATMENT = 'campaigns';

/** Returns an event for its campaign and, if it has a holdout, a copy for the holdout. */
export const withHoldoutAttribution = <T extends { campaignId: string; holdoutId: string | null }>(
  event: T,
): T[] => {
  const { holdoutId } = event;
  if (holdoutId === null) return [event];
  // The copy is not in a control group, because a user in the control group of one campaign may see other campaigns.
  return [event, { ...event, campaignId: holdoutId, variantId: HOLDOUT_TREATMENT, isControl: false }];
};
