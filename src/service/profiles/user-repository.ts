import type { RowOf } from '../sql/table.ts';
import type { USER_IDENTIFIERS, USERS } from '../sql/user-tables.ts';
import type { NewBannerEvent, StoredEvent } from './events.ts';
import type { Lookup } from './lookup.ts';
import { type Profile, profileJson } from './profile.ts';

/** Users in memory that a mutation reads and changes. The store writes the changes of all mutations of a group together. */
export interface UserRepository {
  /** Returns all matching profiles in any order, with the changes of earlier mutations. */
  find(lookup: Lookup): Profile[];
  /** Creates a profile. If a user with this external ID has only banner events, keeps the `userId`. */
  create(fields: Partial<Profile>, nowMs: number): Profile;
  /** Marks a profile as changed. Never decreases `updatedAtMs`. To change aliases or push tokens, replace the array. */
  changed(profile: Profile, nowMs: number): void;
  /**
   * Assigns all rows of `merged` to `kept` and deletes `merged`. The caller merges the attributes. Throws if both are the same
   * user, or if `kept` is deleted.
   */
  merge(kept: Profile, merged: Profile, nowMs: number): void;
  /**
   * Erases a user with identifiers, events, banner events and campaigns. Audit entries of views of the user stay, without the ID.
   */
  erase(profile: Profile): void;
  /**
   * Erases the user with this external ID, even without a profile. Redacts the audit log even if the user does not exist. Returns
   * whether the user existed.
   */
  eraseByExternalId(externalId: string): boolean;
  /** Deletes the rejects of integrations with this lookup. Erasing a user also deletes the user's rejects. */
  deleteRejects(lookup: Lookup): void;
  /** Adds an event to the change set, and counts it in the profile. */
  record(profile: Profile, event: StoredEvent): void;
  /**
   * Adds banner events of the user with this external ID to the change set. Returns `false` and adds nothing if the user does not
   * exist and `createIfMissing` is `false`. A created user has no profile, so `find` and exports exclude the user.
   */
  recordBannerEvents(
    externalId: string,
    events: readonly NewBannerEvent[],
    nowMs: number,
    createIfMissing: boolean,
  ): boolean;
  /** Deletes a user without a profile and without a banner event since `beforeMs`. */
  expire(externalId: string, beforeMs: number): void;
  /** Adds data points to a UTC day, for example `2026-03-01`. */
  addDataPoints(count: number, day: string): void;
}

/** Row of `users`. */
export interface UserRow {
  userId: number;
  workspaceId: string;
  externalId: string | null;
  /** Profile of the user; `null` if the user has only banner events. */
  profile: Profile | null;
  createdAtMs: number;
  /** Receipt of the last banner event of a user without a profile. */
  lastActivityMs: number;
  /** Number of writes of the row; 0 if not yet stored. */
  version: number;
  /** Length of the profile's JSON when last read or written; 0 if unknown. */
  characters: number;
}

/** Row of `users` to write, with the profile as JSON and the new version. */
export type WrittenUser = RowOf<typeof USERS>;

export const writtenUser = (user: UserRow): WrittenUser => {
  const { userId, workspaceId, externalId, profile, version, createdAtMs, lastActivityMs } = user;
  return {
    userId,
    workspaceId,
    externalId,
    profile: profile && JSON.stringify(profileJson(profile)),
    version: version + 1,
    createdAtMs: profile?.createdAtMs ?? createdAtMs,
    updatedAtMs: profile?.updatedAtMs ?? lastActivityMs,
  };
};

export type IdentifierRow = RowOf<typeof USER_IDENTIFIERS>;

/** Changes of a group of mutations. Contains each user once. */
export interface ChangeSet {
  updated: WrittenUser[];
  created: WrittenUser[];
  /** Deleted users. `version` is the stored version plus one. */
  deleted: Pick<WrittenUser, 'userId' | 'version'>[];
  /** Merged users. Their campaign counts are added to `to`, and their events move, except banner events that `to` also has. */
  merged: { workspaceId: string; from: number; to: number }[];
  /** Users whose rows in other tables are deleted: erased, expired and merged users. */
  userIdsToPurge: number[];
  /** Erased or expired users who were not merged. Results keep the counts of an expired user. */
  erasedOrExpired: { workspaceId: string; userId: number; kind: 'erased' | 'expired' }[];
  /** External IDs to redact in the audit log. */
  auditRedactions: { workspaceId: string; externalId: string }[];
  /** Identifiers whose rejects are deleted. */
  identifiersOfDeletedRejects: { workspaceId: string; userIdentifier: string }[];
  identifiersRemoved: IdentifierRow[];
  identifiersAdded: IdentifierRow[];
  events: { workspaceId: string; userId: number; event: StoredEvent }[];
  bannerEvents: { workspaceId: string; userId: number; event: NewBannerEvent }[];
  /** Data points by workspace and UTC day. */
  points: { workspaceId: string; day: string; points: number }[];
}

/** Whether a change set removes data that must not stay in memory. */
export const hasErasures = ({ auditRedactions, erasedOrExpired }: ChangeSet): boolean =>
  auditRedactions.length + erasedOrExpired.length > 0;

export const emptyChangeSet = (): ChangeSet => ({
  updated: [],
  created: [],
  deleted: [],
  merged: [],
  userIdsToPurge: [],
  erasedOrExpired: [],
  auditRedactions: [],
  identifiersOfDeletedRejects: [],
  identifiersRemoved: [],
  identifiersAdded: [],
  events: [],
  bannerEvents: [],
  points: [],
});
