import type { Conversion } from '../results/goals.ts';
import type { ZonedCalendar } from '../zoned-calendar.ts';
import type { Campaign } from './campaign.ts';

/** Control group of all campaigns. */
export interface Holdout {
  /**
   * Campaign ID of its results: held-out users are the control group, and impressions of any campaign count for its only variant.
   * A changed start gets separate results. Workspace campaign IDs cannot start with `@`.
   */
  campaignId: string;
  percentage: number;
  /** Start of the holdout. A changed start selects other users. */
  startsAtMs: number;
  /** Campaigns with any of these tags are shown to held-out users, and are not counted. */
  exemptTags: ReadonlySet<string>;
  conversions: readonly Conversion[];
}

/** Maximum impressions of campaigns with a tag per user and day. */
export interface TagCap {
  tag: string;
  campaignsPerDay: number;
  /** IDs of campaigns that the cap neither limits nor counts. */
  exempt: ReadonlySet<string>;
}

/** The parts of a workspace that decide which user gets which campaign. */
export interface CampaignSet {
  workspaceId: string;
  appIds: ReadonlySet<string>;
  /** Platform by app ID, as in the file. `''` if missing. */
  appPlatforms: ReadonlyMap<string, string>;
  /** In file order. */
  campaigns: readonly Campaign[];
  /** `null` if none. */
  holdout: Holdout | null;
  /** Daily caps per tag and user. */
  tagCaps: readonly TagCap[];
  /** Dates in the workspace's time zone. */
  localDays: ZonedCalendar;
}
