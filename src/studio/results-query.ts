import { HOUR_MS } from '../protocol/index.ts';
import { type Goal, readGoal, type Store, type Workspace } from '../service/index.ts';
import type { CampaignJson, GoalJson } from './campaign/campaign-json.ts';

/** Completes an unfinished goal of a draft, so that it is valid and matches no event. */
const finished = ({ event, product, within_hours }: GoalJson) => ({
  event: product == null ? (event ?? '') : undefined,
  product: product ?? undefined,
  within_hours: within_hours || 0,
});

/** Converts a goal to the format of the workspace file. */
export const toGoalJson = ({ withinMs, ...goal }: Goal): GoalJson => ({
  ...goal,
  within_hours: withinMs / HOUR_MS,
});

/** Returns the counts of a campaign. */
export const getCampaignResults = (
  store: Store,
  { workspaceId, studio }: Pick<Workspace, 'workspaceId' | 'studio'>,
  { campaign_id: campaignId, conversions }: CampaignJson,
): ReturnType<Store['campaignResults']> =>
  store.campaignResults(workspaceId, {
    campaignId,
    timeZone: studio.timeZone,
    goals: (conversions ?? []).map(finished).map(readGoal),
  });
