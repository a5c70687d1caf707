import { MAX_EVENT_NAMES } from '../../protocol/index.ts';
import { getOwn } from '../profiles/own.ts';
import type { Profile } from '../profiles/profile.ts';
import type { StoredEvent } from '../profiles/stored-event.ts';
import type { UserSet } from '../profiles/user-set.ts';
import type { CheckedEvent } from './check-event.ts';
import type { UserFinder } from './find-user.ts';
import { createUser, writeContacts } from './resolve.ts';

/** True where the profile has as many names as it may have, and this event would bring another one. */
const isOneNameTooMany = (profile: Profile, event: StoredEvent): boolean => {
  const [tallies, name] =
    event.kind === 'event' ? [profile.events, event.name] : [profile.purchases, event.productId];
  return getOwn<unknown>(tallies, name) === undefined && Object.keys(tallies).length >= MAX_EVENT_NAMES;
};

/**
 * Records one event or purchase with the user it is about. `ignored` is where contract 4.2 says that nothing happens, `refused`
 * where the user has too many names (contract, `BLACKLISTED_EXTERNAL_USER_ID`).
 */
export const recordEvent = (
  users: UserSet,
  checked: CheckedEvent,
  { finder, nowMs }: { finder: UserFinder; nowMs: number },
): 'recorded' | 'ignored' | 'refused' => {
  const { identity, event } = checked;
  const profile = finder.find(identity) ?? createUser(users, identity, nowMs);
  if (!profile) return 'ignored';
  if (isOneNameTooMany(profile, event)) return 'refused';
  if (identity.email !== undefined || identity.phone !== undefined) {
    writeContacts(profile, identity);
    users.changed(profile);
  }
  users.record(profile, event);
  finder.changed(profile);
  return 'recorded';
};
