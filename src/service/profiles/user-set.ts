import type { Identifier } from '../../protocol/index.ts';
import type { Profile, PushToken } from './profile.ts';
import type { StoredEvent } from './stored-event.ts';

/** What names a user. `email` is compared in lower case, `phone` without its separators. */
export type Lookup =
  | Identifier
  | { by: 'device_id'; value: string }
  | { by: 'push_token'; value: Pick<PushToken, 'app_id' | 'token'> };

/** The users a change works on, in memory: what it finds here it may change, what it changes is stored with it. */
export interface UserSet {
  /** All that match, in no order. Sees what was created or changed before in the same set. */
  find(lookup: Lookup): Profile[];
  create(fields: Partial<Profile>, nowMs: number): Profile;
  /** Must be told after every change to a profile. Aliases and push tokens are changed by putting a new array there. */
  changed(profile: Profile): void;
  /** The same where what the user has done was changed as well, such as by a merge. */
  replaced(profile: Profile): void;
  remove(profile: Profile): void;
  /** Stores an event of the user and counts it in what the user has done. */
  record(profile: Profile, event: StoredEvent): void;
  /** `day` is a UTC date, for example `2026-03-01`. */
  addDataPoints(count: number, day: string): void;
}
