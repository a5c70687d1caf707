import type { UserSet } from '../profiles/user-set.ts';
import type { CheckedDoing } from './check-doing.ts';
import type { UserFinder } from './find-user.ts';
import { createUser, writeContacts } from './resolve.ts';

/** Records one event or purchase with the user it is about. Answers false where contract 4.2 says that nothing happens. */
export const recordDoing = (
  users: UserSet,
  doing: CheckedDoing,
  { finder, nowMs }: { finder: UserFinder; nowMs: number },
): boolean => {
  const { identity, event } = doing;
  const profile = finder.find(identity) ?? createUser(users, identity, nowMs);
  if (!profile) return false;
  if (identity.email !== undefined || identity.phone !== undefined) {
    writeContacts(profile, identity);
    profile.updatedAtMs = nowMs;
    users.changed(profile);
  }
  event.externalId = profile.externalId;
  event.brazeId = profile.brazeId;
  users.record(profile, event);
  finder.changed(profile);
  return true;
};
