import type { UserSet } from '../profiles/user-set.ts';
import type { CheckedEvent } from './check-event.ts';
import type { UserFinder } from './find-user.ts';
import { createUser, writeContacts } from './resolve.ts';

/** Records one event or purchase with the user it is about. Answers false where contract 4.2 says that nothing happens. */
export const recordEvent = (
  users: UserSet,
  checked: CheckedEvent,
  { finder, nowMs }: { finder: UserFinder; nowMs: number },
): boolean => {
  const { identity, event } = checked;
  const profile = finder.find(identity) ?? createUser(users, identity, nowMs);
  if (!profile) return false;
  if (identity.email !== undefined || identity.phone !== undefined) {
    writeContacts(profile, identity);
    users.changed(profile);
  }
  users.record(profile, event);
  finder.changed(profile);
  return true;
};
