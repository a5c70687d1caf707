import { HOLDOUT_ID } from '../profiles/events.ts';
import type { Conversion } from '../store/results.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { bucketsOf } from './bucketing.ts';
import type { Campaign } from './campaign.ts';

/** Users who get no campaign, to learn what all campaigns together bring about. */
export interface Holdout {
  percentage: number;
  /** From when on they are held out. Another start chooses other users. */
  startsAtMs: number;
  /** Campaigns with such a tag are shown to them all the same. */
  exemptTags: ReadonlySet<string>;
  conversions: readonly Conversion[];
}

/** Where a user falls among all, from 0 to 100: below the percentage they are held out. Unrelated to the buckets of campaigns. */
export const holdoutBucket = (workspaceId: string, { startsAtMs }: Holdout, userId: string): number =>
  bucketsOf(workspaceId, `${HOLDOUT_ID} ${startsAtMs}`, userId).control * 100;

/** Whether a user is held out of all campaigns, and so of this one. */
export const isHeldOut = (
  { workspaceId, holdout }: Pick<Workspace, 'workspaceId' | 'holdout'>,
  { tags }: Pick<Campaign, 'tags'>,
  userId: string,
  now: number,
): boolean =>
  holdout !== null &&
  now >= holdout.startsAtMs &&
  ![...holdout.exemptTags].some((tag) => tags.has(tag)) &&
  holdoutBucket(workspaceId, holdout, userId) < holdout.percentage;
