import type { Profile } from '../profiles/profile.ts';
import type { StoredEvent } from '../profiles/stored-event.ts';
import type { Lookup, UserSet } from '../profiles/user-set.ts';
import type { Track } from '../users/track-work.ts';
import type { StudioStore } from './studio/studio-store.ts';

/** A change to users: what it must see, and what it does with it. */
export interface UserWork<T> {
  workspaceId: string;
  /** Every profile these match is in the set, locked against other writers; nothing else is. */
  lookups: Lookup[];
  /** When it came, in Unix milliseconds. */
  nowMs: number;
  /** Synchronous and repeatable: a store may run it again when another replica was faster. */
  apply(users: UserSet): T;
  /** The same as data, of which a part can be done elsewhere. */
  track?: Track;
}

/** A service that shares its database with others. */
export interface Replica {
  id: string;
  /** Where the others reach it, without a slash at the end. */
  url: string;
  /** What the others have to show there. */
  token: string;
  /** The name of its host: a loopback address is reached from there alone. */
  machine: string;
  /** How works are written that it takes from others. */
  format: number;
}

/** Tells the replicas of one database of each other. */
export interface Roster {
  /** Says that this replica is there, and answers all who have said so within the last seconds. */
  announce(replica: Replica): Promise<Replica[]>;
  leave(id: string): Promise<void>;
}

/** One banner event as it is stored. The natural key is workspace, user, banner, type and the instant as sent. */
export interface BannerEventRow {
  externalUserId: string;
  appId: string;
  bannerId: string;
  campaignId: string;
  variantId: string | null;
  placementId: string;
  isControl: boolean;
  /** Test sends are stored and kept out of exports and counts. */
  isTestSend: boolean;
  eventType: 'impression' | 'click' | 'dismiss';
  /** Text as sent. */
  timestamp: string;
  /** The instant that was sent, in Unix milliseconds. */
  timestampMs: number;
  /** When it came, in Unix milliseconds. */
  receivedAtMs: number;
}

/** A banner event with what is not stored of it, but counts for dismissals. */
export interface NewBannerEvent extends BannerEventRow {
  /** The eligibility round that the banner was made in: the same for one banner ID. */
  round: number;
}

/** A dismissal that later syncs honour: the latest of a user and campaign. */
export interface Dismissal {
  campaignId: string;
  /** Unix milliseconds; an instant in the future counts as that of its receipt. */
  dismissedAtMs: number;
  /** The next eligibility round: one more than the latest that this user has dismissed. */
  count: number;
}

/** What a sync needs to know of a user, in one read. */
export interface BannerUser {
  profile: Readonly<Profile> | null;
  dismissals: readonly Dismissal[];
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

/** What can be read beside a running service, by `placard export` for instance. Exports run in bounded memory. */
export interface StoreReader {
  /** Every workspace that the database holds data of. */
  workspaceIds(): Promise<string[]>;
  /** The profiles that the look-ups find. */
  readUsers(workspaceId: string, lookups: Lookup[]): Promise<Profile[]>;
  /** Data points of each UTC day. */
  dataPoints(workspaceId: string): AsyncIterable<{ day: string; points: number }>;
  /** Every profile of a workspace. */
  exportUsers(workspaceId: string): AsyncIterable<Profile>;
  /** Every custom event and purchase of a workspace. */
  exportEvents(workspaceId: string): AsyncIterable<StoredEvent>;
  /** Without test sends. */
  exportBannerEvents(workspaceId: string): AsyncIterable<BannerEventRow>;
  /** Gives the connection back. */
  close(): Promise<void>;
}

/** Works that were stored together. */
export interface Commit {
  works: number;
  /** How long the first of them waited for its turn, and how long the database took, in milliseconds. */
  waitedMs: number;
  writingMs: number;
}

/** Everything durable. A promise that resolves means the change survives a crash and the next reader sees it. */
export interface Store extends StoreReader {
  kind: 'sqlite' | 'postgres';

  /** Works that meet share a transaction (group commit); each still sees those before it. */
  writeUsers<T>(work: UserWork<T>): Promise<T>;

  /** What a decision asks of a user. */
  bannerUser(workspaceId: string, externalUserId: string): Promise<BannerUser>;
  /** Repeats of the natural key are ignored. Dismissals that were new, those of test sends aside, count for later syncs. */
  recordBannerEvents(workspaceId: string, events: NewBannerEvent[]): Promise<void>;
  /** Takes one request from every window, or from none where one refuses. Shared by all replicas. */
  takeRate(windows: { key: string; rule: RateRule }[], nowMs: number): Promise<RateState>;
  /** A random secret of the workspace, the same for all replicas and restarts. */
  secret(workspaceId: string): Promise<string>;

  /** What operators write: releases, drafts, sessions, audit. */
  studio: StudioStore;

  /** Where several services may share the database. */
  roster?: Roster;

  /** Tells of every commit from now on, the failed ones as well. */
  onCommit(listener: (commit: Commit) => void): void;
  /** Rejects where the database cannot be read and written. */
  ping(): Promise<void>;
  /** Waits for writes under way, then closes. */
  close(): Promise<void>;
}
