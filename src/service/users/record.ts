import type { CheckedDoing } from './check-doing.ts';
import { resolveUser, writeContacts } from './resolve.ts';
import type { UserSet } from './user-set.ts';

/** Records one event or purchase with the user it is about. Answers false where contract 4.2 says that nothing happens. */
export const recordDoing = (users: UserSet, doing: CheckedDoing, nowMs: number): boolean => {
  const { identity, kind, properties } = doing;
  const profile = resolveUser(users, identity, nowMs);
  if (!profile) return false;
  if (identity.email !== undefined || identity.phone !== undefined) {
    writeContacts(profile, identity);
    profile.updatedAtMs = nowMs;
    users.changed(profile);
  }
  const details: Record<string, unknown> =
    kind === 'event' ? {} : { currency: doing.currency, price: doing.price, quantity: doing.quantity };
  if (properties) details['properties'] = properties;
  users.record(profile, {
    externalId: profile.externalId,
    brazeId: profile.brazeId,
    kind,
    appId: doing.appId,
    name: doing.name,
    time: doing.time,
    timeMs: doing.timeMs,
    receivedAtMs: nowMs,
    details,
  });
  return true;
};
