import { getOwn, setOwn } from './own.ts';
import { type Profile, setUpdated, type Tally } from './profile.ts';
import type { StoredEvent } from './stored-event.ts';

const add = (tally: Tally, timeMs: number, count: number) => {
  tally.count += count;
  if (timeMs < tally.first) tally.first = timeMs;
  if (timeMs > tally.last) tally.last = timeMs;
};

/** JSON has no number beyond these: it would keep `null`. */
const { MAX_VALUE } = Number;
export const sumOf = (a: number, b: number): number => Math.max(-MAX_VALUE, Math.min(MAX_VALUE, a + b));

/** Counts an event or a purchase in its user's profile. */
export const tallyEvent = (profile: Profile, event: StoredEvent): void => {
  const { timeMs, receivedAtMs } = event;
  if (event.kind === 'event') {
    const tally = getOwn(profile.events, event.name);
    if (tally) add(tally, timeMs, 1);
    else setOwn(profile.events, event.name, { first: timeMs, last: timeMs, count: 1 });
  } else {
    // A quantity of n stands for n purchases of one.
    const { productId, price, quantity } = event;
    const tally = getOwn(profile.purchases, productId);
    if (tally) {
      add(tally, timeMs, quantity);
      tally.revenue = sumOf(tally.revenue, price * quantity);
    } else {
      const revenue = sumOf(0, price * quantity);
      setOwn(profile.purchases, productId, { first: timeMs, last: timeMs, count: quantity, revenue });
    }
  }
  setUpdated(profile, receivedAtMs);
};
