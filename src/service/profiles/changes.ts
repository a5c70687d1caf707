import type { NewBannerEvent, StoredEvent } from './events.ts';
import { type Profile, profileJson } from './profile.ts';

/** A row of `users`. */
export interface UserRow {
  userId: number;
  workspaceId: string;
  externalId: string | null;
  /** `null` of a user who has banner events and no profile. */
  profile: Profile | null;
  createdAtMs: number;
  /** Of a user without a profile: when the last banner event came. With one, the profile knows. */
  seenAtMs: number;
  /** Counts the writes of the row: 0 where there is no row yet. */
  version: number;
  /** Of the profile as JSON, as it was last read or written; 0 where that was no text. */
  characters: number;
}

/** A row of `users` as it is written: the profile is JSON, and the version the one that the row gets. */
export interface WrittenUser {
  userId: number;
  workspaceId: string;
  externalId: string | null;
  profile: string | null;
  version: number;
  createdAtMs: number;
  updatedAtMs: number;
}

export const writtenUser = (user: UserRow): WrittenUser => {
  const { userId, workspaceId, externalId, profile, version, createdAtMs, seenAtMs } = user;
  return {
    userId,
    workspaceId,
    externalId,
    profile: profile && JSON.stringify(profileJson(profile)),
    version: version + 1,
    createdAtMs: profile?.createdAtMs ?? createdAtMs,
    updatedAtMs: profile?.updatedAtMs ?? seenAtMs,
  };
};

export interface KeyRow {
  workspaceId: string;
  key: string;
  userId: number;
}

/** What the works of a group have changed, once for each user, in the form in which it is written. */
export interface Changes {
  updated: WrittenUser[];
  created: WrittenUser[];
  /** With the version that a change would give them. */
  deleted: Pick<WrittenUser, 'userId' | 'version'>[];
  /**
   * Users merged into another: their events move, except banner events that the other already has, and their campaign
   * counts are added.
   */
  moved: { workspaceId: string; from: number; to: number }[];
  /** Users whose remaining rows in the other tables are deleted. */
  erased: number[];
  /** Those of them whose events leave the results of campaigns as well. */
  uncounted: number[];
  /** External IDs that go from the audit too. */
  forgotten: { workspaceId: string; externalId: string }[];
  keysRemoved: KeyRow[];
  keysAdded: KeyRow[];
  events: { workspaceId: string; userId: number; event: StoredEvent }[];
  bannerEvents: { workspaceId: string; userId: number; event: NewBannerEvent }[];
  /** Data points by workspace and UTC day. */
  points: { workspaceId: string; day: string; points: number }[];
}

export const noChanges = (): Changes => ({
  updated: [],
  created: [],
  deleted: [],
  moved: [],
  erased: [],
  uncounted: [],
  forgotten: [],
  keysRemoved: [],
  keysAdded: [],
  events: [],
  bannerEvents: [],
  points: [],
});
