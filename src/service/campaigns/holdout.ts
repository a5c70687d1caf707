import type { NewBannerEvent } from '../profiles/events.ts';
import type { Conversion } from '../store/goals.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { bucketsOf } from './bucketing.ts';
import type { Campaign } from './campaign.ts';

/** Users who get no campaign, to learn what all campaigns together bring about. */
export interface Holdout {
  /**
   * The campaign that its results are kept as: those who are held out are its control group, and what others see of any campaign
   * counts for its one variant. Another start has results of its own. No campaign of a workspace has an ID with an @ in front.
   */
  campaignId: string;
  percentage: number;
  /** From when on they are held out. Another start chooses other users. */
  startsAtMs: number;
  /** Campaigns with such a tag are shown to them all the same, and do not count. */
  exemptTags: ReadonlySet<string>;
  conversions: readonly Conversion[];
}

/** The variant of those who get campaigns. */
export const OF_ALL = 'campaigns';

export const holdoutId = (startsAtMs: number): string => `@holdout:${startsAtMs}`;

/** Where a user falls among all, from 0 to 100: below the percentage they are held out. Unrelated to the buckets of campaigns. */
export const holdoutBucket = (workspaceId: string, { campaignId }: Holdout, userId: string): number =>
  bucketsOf(workspaceId, campaignId, userId).control * 100;

type Of = Pick<Workspace, 'workspaceId' | 'holdout' | 'campaigns'>;

const isExempt = ({ exemptTags }: Holdout, { tags }: Pick<Campaign, 'tags'>): boolean =>
  [...exemptTags].some((tag) => tags.has(tag));

/** The holdout where it keeps this campaign from this user. */
export const holdoutOf = (
  { workspaceId, holdout }: Of,
  campaign: Pick<Campaign, 'tags'>,
  userId: string,
  now: number,
): Holdout | null => {
  if (!holdout || now < holdout.startsAtMs || isExempt(holdout, campaign)) return null;
  return holdoutBucket(workspaceId, holdout, userId) < holdout.percentage ? holdout : null;
};

/** A banner event once more, as one of all campaigns together; nothing where it is none. */
export const ofAllCampaigns = (
  event: NewBannerEvent,
  { workspaceId, holdout, campaigns }: Of,
  userId: string,
): NewBannerEvent[] => {
  const atMs = Math.min(event.timeMs, event.receivedAtMs);
  if (!holdout || event.isTestSend || event.campaignId.startsWith('@') || atMs < holdout.startsAtMs)
    return [];
  const campaign = campaigns.find(({ campaignId }) => campaignId === event.campaignId);
  if (campaign && isExempt(holdout, campaign)) return [];
  // Of a user who is held out, it comes from a page that has not asked since.
  if (holdoutBucket(workspaceId, holdout, userId) < holdout.percentage) return [];
  // A user in the control group of one campaign gets others.
  const own = { bannerId: `@${event.bannerId}`, campaignId: holdout.campaignId, variantId: OF_ALL };
  return [{ ...event, ...own, isControl: false }];
};
