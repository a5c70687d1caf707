import type { NewBannerEvent, StoredEvent } from './events.ts';
import type { Lookup } from './lookup.ts';
import { type Profile, profileJson } from './profile.ts';

/** The users that a work changes, in memory. The store writes what has changed when all works of the group are applied. */
export interface UserRepository {
  /** All profiles that match, in no order. Sees what was created or changed before in the same set. */
  find(lookup: Lookup): Profile[];
  /** Makes a profile. A user who had banner events under this external ID and no profile keeps their `userId`. */
  create(fields: Partial<Profile>, nowMs: number): Profile;
  /**
   * To be called after every change to a profile, with the time of the request: `updatedAtMs` moves on with it, and never back. Put a
   * new array in place to change aliases or push tokens.
   */
  changed(profile: Profile, nowMs: number): void;
  /**
   * One user becomes another: all rows of `merged` become rows of `kept`, and `merged` is gone. The caller has already
   * brought its attributes over to `kept`. Throws where they are one user already, or `kept` is gone.
   */
  merge(kept: Profile, merged: Profile, nowMs: number): void;
  /**
   * Deletes a user with everything stored of them: keys, events, banner events, campaigns. The audit of the Studio keeps that an
   * operator looked at a user, and no longer at which.
   */
  remove(profile: Profile): void;
  /**
   * Deletes the user with this external ID in the same way, with or without a profile. Returns whether there was one. The
   * audit forgets the ID where there is none, too.
   */
  forget(externalId: string): boolean;
  /** Deletes the rejects of integrations that name a user by this lookup. Those of a user who is removed are deleted anyway. */
  forgetRejects(lookup: Lookup): void;
  /** Stores an event with its user, and counts it in the profile. */
  record(profile: Profile, event: StoredEvent): void;
  /**
   * Stores banner events of the user with this external ID. Returns false, and stores nothing, where there is no such user and
   * `mayMake` is false. A user who is made has no profile, and a row that holds no more than the external ID: `find` does not see
   * it, and no export of users has it.
   */
  recordBannerEvents(
    externalId: string,
    events: readonly NewBannerEvent[],
    nowMs: number,
    mayMake: boolean,
  ): boolean;
  /** Deletes the user with this external ID where they have no profile, and had no banner event since that moment. */
  expire(externalId: string, beforeMs: number): void;
  /** `day` is a UTC date, for example `2026-03-01`. */
  addDataPoints(count: number, day: string): void;
}

/** A row of `users`. */
export interface UserRow {
  userId: number;
  workspaceId: string;
  externalId: string | null;
  /** `null` of a user who has banner events and no profile. */
  profile: Profile | null;
  createdAtMs: number;
  /** When the last banner event of a user without a profile came. With a profile, `updatedAtMs` of the profile counts. */
  seenAtMs: number;
  /** Counts the writes of the row: 0 where there is no row yet. */
  version: number;
  /** Length of the profile's JSON when it was last read or written. 0 where the driver gave no text. */
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

/** Everything that the works of a group have changed, ready to be written. Each user is in it once. */
export interface ChangeSet {
  updated: WrittenUser[];
  created: WrittenUser[];
  /** `version` is what the row would have after one more change. */
  deleted: Pick<WrittenUser, 'userId' | 'version'>[];
  /**
   * Users merged into another: their events move, except banner events that the other already has, and their campaign
   * counts are added.
   */
  moved: { workspaceId: string; from: number; to: number }[];
  /** Users whose remaining rows in the other tables are deleted. */
  erased: number[];
  /** Of the erased users, those who became no other one. The results keep the counts of an expired user. */
  removed: { workspaceId: string; userId: number; kind: 'erased' | 'expired' }[];
  /** External IDs that the audit must forget. */
  forgotten: { workspaceId: string; externalId: string }[];
  /** Lookup keys that the rejects of integrations must forget. */
  forgottenKeys: { workspaceId: string; key: string }[];
  keysRemoved: KeyRow[];
  keysAdded: KeyRow[];
  events: { workspaceId: string; userId: number; event: StoredEvent }[];
  bannerEvents: { workspaceId: string; userId: number; event: NewBannerEvent }[];
  /** Data points by workspace and UTC day. */
  points: { workspaceId: string; day: string; points: number }[];
}

export const emptyChangeSet = (): ChangeSet => ({
  updated: [],
  created: [],
  deleted: [],
  moved: [],
  erased: [],
  removed: [],
  forgotten: [],
  forgottenKeys: [],
  keysRemoved: [],
  keysAdded: [],
  events: [],
  bannerEvents: [],
  points: [],
});
