import type { RateLimitWindow } from '../../protocol/index.ts';
import type { IngestionStore } from '../integrations/ingestion-records.ts';
import type { ImageFile } from '../operators/index.ts';
import type { BannerEventRow, EventRow } from '../profiles/events.ts';
import type { Lookup } from '../profiles/lookup.ts';
import type { Profile } from '../profiles/profile.ts';
import type { UserCampaign } from '../profiles/user-campaign.ts';
import type { UserRepository, UserRow } from '../profiles/user-repository.ts';
import type { ButtonDayResults, ButtonDaysQuery } from '../results/button-results.ts';
import type { Progress } from '../results/consumer.ts';
import type { EventCountsQuery, EventNamesQuery, QuarterHour } from '../results/event-counts.ts';
import type { CampaignResults, CampaignSummary, ResultsQuery } from '../results/read.ts';
import type { UserChange } from '../results/statements.ts';
import type { ResultsDifference } from '../results/verify.ts';
import type { FeedCursor } from '../sql/feed.ts';
import type { Statement } from '../sql/row-readers.ts';
import type { WebhookStore } from '../webhooks/webhook-store.ts';
import type { StudioStore } from './studio-store.ts';

/** Mutation of users, which consists of lookups and a synchronous `apply`. */
export interface UserMutation<T> {
  workspaceId: string;
  /** Users that `apply` can access. */
  lookups: readonly Lookup[];
  /** Receipt of the request, in Unix milliseconds. */
  nowMs: number;
  /** Applies the mutation. Must be repeatable, because the store calls it again if the group is retried. */
  apply(users: UserRepository): T;
  /** Statements for both databases, committed in the same transaction. If a statement fails, the mutation is rejected. */
  extraStatements?: readonly Statement[];
}

/** Data of a user that a sync reads. It is not a snapshot, because a write may commit between the reads. */
export interface TargetingData {
  profile: Readonly<Profile> | null;
  campaigns: readonly UserCampaign[];
  /** Impressions since the requested time, without test sends; empty if no time was requested. */
  impressions: readonly Impression[];
}

export interface LoadedUser extends TargetingData {
  /** Whether the user exists, even without a profile or with test sends only. */
  exists: boolean;
}

export interface Impression {
  campaignId: string;
  /** Unix milliseconds, at most the time of receipt. */
  timeMs: number;
}

export interface RateLimitResult {
  allowed: boolean;
  /** Limit of the first exceeded window. If no window is exceeded, limit of the first window. */
  limit: number;
  remaining: number;
  resetAtMs: number;
}

/** Uniform sample of the users of a workspace, stable until a user is added or deleted. */
export interface Sample {
  /** Number of all users of the workspace, including those who only have banner events. */
  total: number;
  /** Sampled users, in an order unrelated to their data. Contains all users if the workspace has at most the requested number. */
  users: SampleUser[];
}

export interface SampleUser extends Pick<UserRow, 'externalId' | 'profile'> {
  /** States of the requested campaigns. */
  campaigns: readonly UserCampaign[];
}

export interface SampleQuery {
  workspaceId: string;
  /** Approximate number of users. */
  size: number;
  /** Campaigns whose states are read with the users. */
  campaignIds: readonly string[];
}

/** Reads a database that a service may have open, for example for `placard export`. Exports use bounded memory. */
export interface StoreReader {
  /** Returns the IDs of all workspaces with data. */
  workspaceIds(): Promise<string[]>;
  /** Returns matching profiles. Reads them in pages, not from a snapshot. */
  readUsers(workspaceId: string, lookups: readonly Lookup[]): Promise<Profile[]>;
  /** Returns data points by UTC day. */
  dataPoints(workspaceId: string): AsyncIterable<{ day: string; points: number }>;
  /** Returns all profiles of a workspace. Excludes users who only have banner events. */
  exportUsers(workspaceId: string): AsyncIterable<Profile>;
  /** Returns all custom events and purchases of a workspace. */
  exportEvents(workspaceId: string): AsyncIterable<EventRow>;
  /** Returns all banner events of a workspace, except test sends. */
  exportBannerEvents(workspaceId: string): AsyncIterable<BannerEventRow>;
  /**
   * Returns summaries of all campaigns with an impression, in any order. `days` are the days whose impressions are counted, for
   * example `2026-03-01`.
   */
  campaignSummaries(workspaceId: string, days?: readonly [string, string]): Promise<CampaignSummary[]>;
  /** Returns the counts of campaigns that differ from their events. Reads all events. */
  verifyResults(workspaceId: string): Promise<ResultsDifference[]>;
  /** Returns a uniform sample of about `size` users. */
  sampleUsers(query: SampleQuery): Promise<Sample>;
  /** Returns an image by the hexadecimal SHA-256 of its bytes; `null` if no workspace has the image. */
  image(hash: string): Promise<ImageFile | null>;
  close(): Promise<void>;
}

/** Rows of the feed after a cursor, each list in commit order. */
export interface FeedPage {
  events: EventRow[];
  /** Includes test sends. */
  bannerEvents: BannerEventRow[];
  userChanges: UserChange[];
  /** Cursor after this page. */
  next: FeedCursor;
}

/**
 * Event or purchase that counts for a goal of a campaign, because it happened within the goal's time after the user's first
 * impression.
 */
export interface FeedConversion {
  eventId: number;
  workspaceId: string;
  userId: number;
  externalId: string | null;
  campaignId: string;
  /** ID of the variant; `null` for the control group. */
  variantId: string | null;
  /** Goal in the format of `campaign_goals`. */
  goal: string;
  timeMs: number;
  /** Revenue of a purchase; 0 for an event. */
  revenue: number;
  /** Currency of a purchase; `''` for an event. */
  currency: string;
}

/** Reads the feed, even beside a running service. */
export interface Feed {
  /**
   * Returns the rows after a cursor, up to `limit` of each table. Rows that are stored later have higher IDs, because a page
   * excludes rows that an open transaction could precede. Rows have their current user. `userChanges` contains the merges.
   */
  readFeed(after: FeedCursor, limit: number): Promise<FeedPage>;
  /**
   * Returns the conversions of the events in a page, and earlier conversions of users whose first impression is in the page. May
   * repeat them if a page is read again after that impression was stored.
   */
  readConversions(page: FeedPage): Promise<FeedConversion[]>;
  /** Returns the cursor after the last visible and stable row. */
  feedEnd(): Promise<FeedCursor>;
}

/** Times before which rows are deleted, in Unix milliseconds; `null` keeps all rows of a kind. */
export interface PruneBefore {
  /** Compared with the receipt. */
  events: number | null;
  /** Compared with the earlier of time and receipt. */
  bannerEvents: number | null;
}

/** Result of a batch of retention. */
export interface Pruned {
  events: number;
  bannerEvents: number;
  /** Whether there may be more old rows. */
  hasMore: boolean;
}

/** A group commit. */
export interface Commit {
  mutations: number;
  /** Wait of the oldest mutation, in milliseconds. */
  waitedMs: number;
  /** Duration of the commit, in milliseconds. */
  writingMs: number;
}

/** Database of the service. A write that resolves is durable and visible to the next read. */
export interface Store extends StoreReader, Feed {
  /** Kind of database. `citus` is PostgreSQL with distributed tables. */
  kind: 'sqlite' | 'postgres' | 'citus';

  /**
   * Applies a mutation. Mutations that arrive during a commit share the next commit (group commit) and see each other's changes.
   * Rejects with the error that `apply` threw, with `TransientError` if nothing was stored and a retry may succeed, or with
   * `InDoubtError` if the outcome is unknown.
   */
  write<T>(mutation: UserMutation<T>): Promise<T>;

  /** Reads the data of a user that a decision needs. */
  loadTargetingData(
    workspaceId: string,
    externalId: string,
    impressionsSinceMs?: number | null,
  ): Promise<LoadedUser>;
  /** Counts a request in all windows, or in none if a window is exceeded. Replicas share the windows. */
  consumeRateLimit(
    windows: readonly { key: string; rule: RateLimitWindow }[],
    nowMs: number,
  ): Promise<RateLimitResult>;
  /** Returns the random secret of a workspace, which replicas share. The first call adds the workspace to the database. */
  ensureWorkspace(workspaceId: string): Promise<string>;

  /** Adds the goals of the query, catches up with the feed for at most two seconds, and returns the results of the campaign. */
  campaignResults(workspaceId: string, query: ResultsQuery): Promise<CampaignResults & Progress>;
  /** Returns the clicks on links and buttons of a campaign by day. */
  campaignButtonDays(workspaceId: string, query: ButtonDaysQuery): Promise<ButtonDayResults[]>;
  /** Returns the number of events or purchases by quarter hour. Catches up with the feed first. */
  eventCounts(workspaceId: string, query: EventCountsQuery): Promise<QuarterHour[]>;
  /** Returns names of stored events or purchased products in byte order. Catches up with the feed first. */
  eventNames(workspaceId: string, query: EventNamesQuery): Promise<string[]>;
  /** Adds goals of a campaign, and backfills them from the oldest stored event. A changed time zone affects later conversions. */
  addGoals(workspaceId: string, query: ResultsQuery): Promise<void>;
  /** Catches up with the feed, for at most two seconds. */
  catchUpResults(): Promise<Progress>;

  /** Deletes a batch of old events. Each batch is short, because writes wait for it. */
  prune(workspaceId: string, before: PruneBefore): Promise<Pruned>;
  /** Returns external IDs of some users without a profile and without a recent banner event, oldest first. */
  expiredStubUsers(workspaceId: string, beforeMs: number): Promise<string[]>;

  /** Data of operators: releases, drafts, images, sessions and the audit log. */
  studio: StudioStore;
  /** State and runs of integrations. */
  ingestion: IngestionStore;
  /** Cursors and attempts of webhooks. */
  webhooks: WebhookStore;

  /** Calls a listener after every commit, including failed commits. */
  onCommit(listener: (commit: Commit) => void): void;
  /** Returns the size of SQLite's write-ahead log in bytes; `null` on PostgreSQL and in memory. */
  walBytes(): number | null;
  /** Rejects if the database cannot be read or written. */
  ping(): Promise<void>;
  /** Closes the store after the writes in flight. */
  close(): Promise<void>;
}
