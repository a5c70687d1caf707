import type { Goal } from '../results/goals.ts';
import type { ZonedCalendar } from '../zoned-calendar.ts';
import type { Campaign } from './campaign.ts';

/** Control group of all campaigns. */
export interface Holdout {
  /**
   * Campaign ID of the holdout's results. Held-out users are the control group, and impressions of any campaign count for its
   * only variant.
   */
  campaignId: string;
  percentage: number;
  /** Start of the holdout, in Unix milliseconds. A changed start selects other users. */
  startsAtMs: number;
  /** Tags of campaigns that held-out users see. These campaigns do not count in the holdout's results. */
  exemptTags: ReadonlySet<string>;
  goals: readonly Goal[];
}

/** Maximum impressions of campaigns with a tag per user and day. */
export interface TagCap {
  tag: string;
  campaignsPerDay: number;
  /** IDs of campaigns that are exempt from the cap and do not count towards it. */
  exempt: ReadonlySet<string>;
}

/** Parts of a workspace that determine the campaigns of a user. */
export interface CampaignSet {
  workspaceId: string;
  appIds: ReadonlySet<string>;
  /** Platform by app ID, as in the file; `''` if missing. */
  appPlatforms: ReadonlyMap<string, string>;
  /** Campaigns in file order. */
  campaigns: readonly Campaign[];
  /** Global holdout; `null` if none. */
  holdout: Holdout | null;
  tagCaps: readonly TagCap[];
  /** Calendar of the workspace's time zone. */
  calendar: ZonedCalendar;
}
