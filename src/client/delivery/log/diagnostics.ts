import { isAhead, LEASE_MS, MAX_WAIT_MS } from '../../platform/deadline.ts';
import type { KeyRange } from '../../platform/store.ts';
import type { DeliveryContext } from '../context.ts';
import type { Diagnostics } from '../delivery.ts';
import type { Log } from './log.ts';
import { batchState, DEAD_RANGE, EVENT_RANGE, TOTALS } from './records.ts';

/** A log that changes while it is counted is counted again, at most this often. */
const MAX_COUNTS = 3;

/**
 * Where every event is. What was captured is not counted as it comes: it is the sum of what has left the log and of what
 * is still there.
 */
export const readDiagnostics = async ({ tab, clock }: DeliveryContext, log: Log): Promise<Diagnostics> => {
  const now = clock.now();
  const count = async (range: KeyRange): Promise<number> => {
    let found = 0;
    for await (const _ of log.read(range)) found += 1;
    return found;
  };
  for (let counts = 1; ; counts += 1) {
    const { control, batches } = await log.overview();
    const events = await count(EVENT_RANGE);
    const deadLetters = await count(DEAD_RANGE);
    if ((await log.control()).revision !== control.revision && counts < MAX_COUNTS) continue;

    const { delivered, discarded, evicted, expired, purged, wait, sender } = control;
    const inDoubt = batches
      .filter((batch) => batch.doubt || batchState(batch, now) === 'abandoned')
      .reduce((sum, { keys }) => sum + keys.length, 0);
    return {
      captured: TOTALS.reduce((sum, total) => sum + control[total], events + deadLetters),
      delivered,
      pending: events - inDoubt,
      inDoubt,
      deadLetters,
      discarded,
      evicted,
      expired,
      purged,
      memoryMode: log.isMemory(),
      sender: sender?.tab === tab && isAhead(sender.until, now, LEASE_MS),
      waitingUntil: isAhead(wait.until, now, MAX_WAIT_MS) ? wait.until : null,
    };
  }
};
