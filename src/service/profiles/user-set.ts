import type { Identifier } from '../../protocol/index.ts';
import type { NewBannerEvent, StoredEvent } from './events.ts';
import type { Profile, PushToken } from './profile.ts';

/** Names users. `email` is compared in lower case, `phone` without its separators. */
export type Lookup =
  | Identifier
  | { by: 'device_id'; value: string }
  | { by: 'push_token'; value: Pick<PushToken, 'app_id' | 'token'> };

/** The users that a work changes, in memory. The store writes what has changed when all works of the group are applied. */
export interface UserSet {
  /** All profiles that match, in no order. Sees what was created or changed before in the same set. */
  find(lookup: Lookup): Profile[];
  /** Makes a profile. A user who had banner events under this external ID and no profile keeps their `userId`. */
  create(fields: Partial<Profile>, nowMs: number): Profile;
  /** To be called after every change to a profile. Put a new array in place to change aliases or push tokens. */
  changed(profile: Profile): void;
  /**
   * One user becomes another: all rows of `merged` become rows of `kept`, and `merged` is gone. The caller has already
   * brought its attributes over to `kept`. Throws where they are one user already, or `kept` is gone.
   */
  merge(kept: Profile, merged: Profile): void;
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
