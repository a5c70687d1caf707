import type { CheckedDoing } from './check-doing.ts';
import { getOwn, setOwn } from './own.ts';
import type { Tally } from './profile.ts';
import { resolveUser, writeContacts } from './resolve.ts';
import type { UserSet } from './user-set.ts';

const count = (tally: Tally, timeMs: number, by: number) => {
  tally.count += by;
  if (timeMs < tally.first) tally.first = timeMs;
  if (timeMs > tally.last) tally.last = timeMs;
};

/** Records one event or purchase with the user it is about. Answers false where contract 4.2 says that nothing happens. */
export const recordDoing = (users: UserSet, doing: CheckedDoing, nowMs: number): boolean => {
  const profile = resolveUser(users, doing.identity, nowMs);
  if (!profile) return false;
  const { kind, name, time, timeMs, properties } = doing;
  writeContacts(profile, doing.identity);

  if (kind === 'event') {
    const tally = getOwn(profile.events, name);
    if (tally) count(tally, timeMs, 1);
    else setOwn(profile.events, name, { first: timeMs, last: timeMs, count: 1 });
  } else {
    const { price, quantity } = doing;
    // A quantity of n stands for n purchases of one.
    const tally = getOwn(profile.purchases, name);
    if (tally) {
      count(tally, timeMs, quantity);
      tally.revenue += price * quantity;
    } else {
      setOwn(profile.purchases, name, {
        first: timeMs,
        last: timeMs,
        count: quantity,
        revenue: price * quantity,
      });
    }
  }
  profile.updatedAtMs = nowMs;
  users.changed(profile);

  const details: Record<string, unknown> =
    kind === 'event' ? {} : { currency: doing.currency, price: doing.price, quantity: doing.quantity };
  if (properties) details['properties'] = properties;
  users.append({
    externalId: profile.externalId,
    brazeId: profile.brazeId,
    kind,
    appId: doing.appId,
    name,
    time,
    timeMs,
    receivedAtMs: nowMs,
    details,
  });
  return true;
};
