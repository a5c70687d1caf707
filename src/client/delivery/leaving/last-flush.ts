import { isAhead, LONGEST_WAIT_MS } from '../../platform/deadline.ts';
import { batchKey, EVENT_VALUE, type Log } from '../log/index.ts';
import type { DeliveryPage } from '../page.ts';
import {
  asSent,
  byTime,
  isOthers,
  newBatch,
  planBatches,
  type Sender,
  sameGroupBy,
} from '../sender/index.ts';
import type { Unsent } from './unsent.ts';

export interface LastFlushOptions {
  log: Log;
  page: DeliveryPage;
  sender: Pick<Sender, 'send' | 'limit' | 'key' | 'budgetLeft'>;
  unsent: Unsent;
  isAllowed: () => boolean;
}

/**
 * What a page does when it is hidden, since it may never run again: the requests leave at once, from memory, as
 * keepalive fetches (a beacon carries no Authorization header, and its answer cannot be read), the most valuable events
 * first. The batches are written without waiting, so that a later page knows what is in doubt. What does not fit the
 * budget stays stored. Returns how many events were delivered.
 */
export const createLastFlush = (options: LastFlushOptions) => async (): Promise<number> => {
  const { log, page, sender, unsent, isAllowed } = options;
  const { tab, clock, newId } = page;
  const control = log.known();
  const key = sender.key();
  const mustWait = isAhead(control.wait.until, clock.now(), LONGEST_WAIT_MS);
  if (key === undefined || mustWait || isOthers(control, tab, clock.now()) || !isAllowed()) return 0;

  const byValue = unsent
    .waiting()
    .sort((a, b) => EVENT_VALUE[b.event.type] - EVENT_VALUE[a.event.type] || byTime(a, b));
  const batches = planBatches(byValue, {
    maxBytes: sender.budgetLeft(),
    maxBatch: sender.limit(),
    sameGroup: sameGroupBy(page.options.inDoubt),
  }).map((kept) => asSent(newBatch(kept, newId()), page));
  if (batches.length === 0) return 0;

  const free = unsent.hold(batches.flatMap(({ keys }) => keys));
  const written = log
    .write(batches.map((batch) => [batchKey(batch.id), batch]))
    // A sender of another tab that has chosen the same events looks again.
    .then(() => log.step([], () => []))
    // Unwritten batches only lose their mark: the events are stored, and the next page sends them again.
    .catch(() => undefined)
    .then(free);
  // One after the other, and all in this turn: the page may not get another one.
  const sent = batches.map((batch) => sender.send(batch, key));
  await written;
  return (await Promise.all(sent)).reduce((sum, { outcome }) => sum + outcome.delivered.length, 0);
};
