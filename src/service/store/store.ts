import type { IngestionStore } from '../integrations/records.ts';
import type { PictureFile, Statement } from '../operators/index.ts';
import type { BannerEventRow, StoredEvent } from '../profiles/events.ts';
import type { Lookup } from '../profiles/lookup.ts';
import type { Profile } from '../profiles/profile.ts';
import type { UserSet } from '../profiles/user-set.ts';
import type { Progress } from '../results/follow.ts';
import type { CampaignNumber, CampaignResults, ResultsQuestion } from '../results/read.ts';
import type { FeedCursor, UserChange } from '../results/statements.ts';
import type { ResultsDifference } from '../results/verify.ts';
import type { WebhookStore } from '../webhooks/records.ts';
import type { PruneBefore, Pruned } from './prune.ts';
import type { StudioStore } from './studio-store.ts';
import type { Sample, SampleQuery } from './workspace-reads.ts';

/** A change to users: which of them it must see, and what it does with them. */
export interface UserWork<T> {
  workspaceId: string;
  /** Every profile that these match is in the set. */
  lookups: readonly Lookup[];
  /** When the request came, in Unix milliseconds. */
  nowMs: number;
  /** Synchronous and repeatable: the store applies it again when its group has to begin anew. */
  apply(users: UserSet): T;
  /** Statements that both databases understand, committed together with the work or not at all. One that fails refuses the work. */
  also?: readonly Statement[];
}

/** One row of `user_campaigns`: what a decision needs to know of a user and a campaign. Without test sends. */
export interface UserCampaign {
  campaignId: string;
  /** Of the earliest impression; `null` before it, and of a control banner. */
  variantId: string | null;
  isControl: boolean;
  impressions: number;
  /** Unix milliseconds; an instant in the future counts as the one of its receipt. `null` before the first. */
  firstImpressionMs: number | null;
  lastImpressionMs: number | null;
  clicks: number;
  lastClickMs: number | null;
  dismissals: number;
  lastDismissalMs: number | null;
  /** The eligibility round that the user is in: 0, and after a dismissal one more than the dismissed banner's. */
  round: number;
}

/** All that a sync needs to know of a user. Profile, campaigns and impressions are read one after the other: a write may come between them. */
export interface BannerUser {
  profile: Readonly<Profile> | null;
  campaigns: readonly UserCampaign[];
  /** Impressions since the moment that was asked for, without test sends; none where no moment was. */
  impressions: readonly Impression[];
}

/** An instant in the future counts as the one of its receipt. */
export interface Impression {
  campaignId: string;
  /** Unix milliseconds. */
  timeMs: number;
}

/** One window of a rate limit. */
export interface RateRule {
  requests: number;
  windowSeconds: number;
}

export interface RateState {
  allowed: boolean;
  /** The window that decides: the first that refuses, else the first of all. */
  limit: number;
  remaining: number;
  resetAtMs: number;
}

/** Reads beside a running service, for `placard export` for instance. Exports run in bounded memory. */
export interface StoreReader {
  /** Every workspace that the database holds data of. */
  workspaceIds(): Promise<string[]>;
  /** The profiles that the lookups find, read in pages: a user who changes meanwhile is as of either moment. */
  readUsers(workspaceId: string, lookups: readonly Lookup[]): Promise<Profile[]>;
  /** Data points of each UTC day. */
  dataPoints(workspaceId: string): AsyncIterable<{ day: string; points: number }>;
  /** Every profile of a workspace, without the users who have banner events and no profile. */
  exportUsers(workspaceId: string): AsyncIterable<Profile>;
  /** Every custom event and purchase of a workspace. */
  exportEvents(workspaceId: string): AsyncIterable<StoredEvent>;
  /** Without test sends. */
  exportBannerEvents(workspaceId: string): AsyncIterable<BannerEventRow>;
  /** The first numbers of every campaign that a user has seen, in any order. */
  campaignNumbers(workspaceId: string): Promise<CampaignNumber[]>;
  /** Returns the counts of campaigns that differ from the events they were derived from. Reads all of these. */
  verifyResults(workspaceId: string): Promise<ResultsDifference[]>;
  /** About `size` users, chosen evenly. */
  sampleUsers(query: SampleQuery): Promise<Sample>;
  /** A picture by the SHA-256 of its bytes in hexadecimal digits; `null` where no workspace has it. */
  picture(hash: string): Promise<PictureFile | null>;
  /** Gives the connection back. */
  close(): Promise<void>;
}

/** Rows of the feed after a cursor, each list in commit order. */
export interface FeedPage {
  events: (StoredEvent & { eventId: number; workspaceId: string })[];
  /** With test sends. */
  bannerEvents: (BannerEventRow & { bannerEventId: number; workspaceId: string })[];
  userChanges: UserChange[];
  /** Reads on after this page. */
  next: FeedCursor;
}

/** An event or purchase that counts for a goal of a campaign: it came within the goal's time after the user's first impression. */
export interface FeedConversion {
  eventId: number;
  workspaceId: string;
  userId: number;
  externalId: string | null;
  campaignId: string;
  /** `null` of the control group. */
  variantId: string | null;
  /** As `campaign_goals` has it. */
  goal: string;
  timeMs: number;
  /** 0 of an event. */
  revenue: number;
  /** `''` of an event. */
  currency: string;
}

/** Reads the feed, beside a running service too. */
export interface Feed {
  /**
   * Returns the rows after a cursor, up to `limit` of each table. A row that is stored later has a higher ID, also beside transactions
   * that are still open: those rows are left for the next page. Rows have the user of this moment; `userChanges` say who was whom.
   */
  readFeed(after: FeedCursor, limit: number): Promise<FeedPage>;
  /**
   * Returns the conversions of a page: those of its events, and earlier ones of users whose first impression is in the page. A page
   * that is read again after that impression has come may repeat them.
   */
  readConversions(page: FeedPage): Promise<FeedConversion[]>;
  /** Returns the cursor behind every row that is visible and settled. */
  feedEnd(): Promise<FeedCursor>;
}

/** Works that were committed together. */
export interface Commit {
  works: number;
  /** How long the first of them waited for its turn, and how long the group took until it was durable, in milliseconds. */
  waitedMs: number;
  writingMs: number;
}

/** Everything durable. A promise that resolves means: the change survives a crash, and the next reader sees it. */
export interface Store extends StoreReader, Feed {
  /** `citus` is a PostgreSQL whose tables are distributed. */
  kind: 'sqlite' | 'postgres' | 'citus';

  /**
   * Works that come while a commit is under way share the next one (group commit); each sees those before it. Rejects
   * with what `apply` threw, with a `RetryLaterError` where nothing was stored and the same may go through later, and
   * with an `InDoubtError` where the database did not say whether it has committed.
   */
  write<T>(work: UserWork<T>): Promise<T>;

  /** What a decision asks of a user. */
  bannerUser(
    workspaceId: string,
    externalId: string,
    impressionsSinceMs?: number | null,
  ): Promise<BannerUser>;
  /** Takes one request from every window, or from none where one refuses. Shared by all replicas. */
  takeRate(windows: readonly { key: string; rule: RateRule }[], nowMs: number): Promise<RateState>;
  /** A random secret of the workspace, the same for all replicas and restarts. */
  secret(workspaceId: string): Promise<string>;

  /** Returns the results of a campaign. Catches up with the feed first, for two seconds at most. */
  campaignResults(workspaceId: string, question: ResultsQuestion): Promise<CampaignResults>;
  /** Counts these goals of a campaign from now on, and from the oldest event that is kept. */
  addGoals(workspaceId: string, question: ResultsQuestion): Promise<void>;
  /** Reads the feed into the results, for two seconds at most. */
  catchUpResults(): Promise<Progress>;

  /** Deletes some old events, in a step that keeps no write waiting for long. */
  prune(workspaceId: string, before: PruneBefore): Promise<Pruned>;
  /** External IDs of some users without a profile of whom nothing came since a moment, the longest ago first. */
  staleUsers(workspaceId: string, beforeMs: number): Promise<string[]>;

  /** What operators write: releases, drafts, pictures, sessions, audit. */
  studio: StudioStore;
  /** What runs of integrations leave behind. */
  ingestion: IngestionStore;
  /** How far webhooks are delivered, and their attempts. */
  webhooks: WebhookStore;

  /** Calls the listener after every commit from now on, the failed ones as well. */
  onCommit(listener: (commit: Commit) => void): void;
  /** Rejects where the database cannot be read and written. */
  ping(): Promise<void>;
  /** Waits for writes under way, then closes. */
  close(): Promise<void>;
}
