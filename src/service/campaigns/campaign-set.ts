import type { Conversion } from '../results/goals.ts';
import type { ZonedCalendar } from '../zoned-calendar.ts';
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

/** At most so many campaigns of a tag a day, for one user. */
export interface TagCap {
  tag: string;
  campaignsPerDay: number;
  /** IDs of campaigns that are neither limited nor counted. */
  exempt: ReadonlySet<string>;
}

/** The part of a workspace that decides who gets which campaign. */
export interface CampaignSet {
  workspaceId: string;
  appIds: ReadonlySet<string>;
  /** By app ID, as the file names it, `''` if it does not. */
  appPlatforms: ReadonlyMap<string, string>;
  /** In the order of the file. */
  campaigns: readonly Campaign[];
  /** Users who get no campaign; `null` if there are none. */
  holdout: Holdout | null;
  /** How many campaigns of a tag one user gets a day. */
  tagCaps: readonly TagCap[];
  /** Dates in the time zone of the workspace. */
  localDays: ZonedCalendar;
}
