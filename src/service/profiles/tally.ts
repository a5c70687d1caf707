import { getOwn, setOwn } from './own.ts';
import type { Profile, Tally } from './profile.ts';
import type { StoredEvent } from './stored-event.ts';

const add = (tally: Tally, timeMs: number, count: number) => {
  tally.count += count;
  if (timeMs < tally.first) tally.first = timeMs;
  if (timeMs > tally.last) tally.last = timeMs;
};

/** JSON has no number beyond these: it would keep `null`. */
const { MAX_VALUE } = Number;
export const sumOf = (a: number, b: number): number => Math.max(-MAX_VALUE, Math.min(MAX_VALUE, a + b));

/**
 * Counts an event or a purchase in what its user has done. Everything it needs is in the event as it is stored, so
 * that a store may do it again from there.
 */
export const tallyEvent = (profile: Profile, event: StoredEvent): void => {
  const { name, timeMs, receivedAtMs } = event;
  if (event.kind === 'event') {
    const tally = getOwn(profile.events, name);
    if (tally) add(tally, timeMs, 1);
    else setOwn(profile.events, name, { first: timeMs, last: timeMs, count: 1 });
  } else {
    // A quantity of n stands for n purchases of one.
    const { price, quantity } = event.details as { price: number; quantity: number };
    const tally = getOwn(profile.purchases, name);
    if (tally) {
      add(tally, timeMs, quantity);
      tally.revenue = sumOf(tally.revenue, price * quantity);
    } else {
      setOwn(profile.purchases, name, {
        first: timeMs,
        last: timeMs,
        count: quantity,
        revenue: sumOf(0, price * quantity),
      });
    }
  }
  if (receivedAtMs > profile.updatedAtMs) profile.updatedAtMs = receivedAtMs;
};
