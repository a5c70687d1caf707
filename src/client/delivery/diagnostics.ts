import { isAhead, LEASE_MS, LONGEST_ANSWER_MS, LONGEST_WAIT_MS } from '../platform/deadline.ts';
import type { Store } from '../platform/store.ts';
import type { Diagnostics } from './delivery.ts';
import { CONTROL_RANGE, isBatch, isMeta, newMeta } from './records.ts';

/** Where every event is, from one transaction over the counters and the open batches. */
export const readDiagnostics = async (
  store: Store,
  { tab, now, isMemory }: { tab: string; now: number; isMemory: () => boolean },
): Promise<Diagnostics> => {
  const control = (await store.entries<unknown>(CONTROL_RANGE)).map(([, record]) => record);
  const meta = control.find(isMeta) ?? newMeta('', 0);
  const inDoubt = control
    .filter(isBatch)
    .filter(
      ({ doubt, state, until }) => doubt || (state === 'sent' && !isAhead(until, now, LONGEST_ANSWER_MS)),
    )
    .reduce((sum, { keys, held }) => sum + keys.length + held.length, 0);
  const { captured, delivered, deadLetters, discarded, evicted, expired, purged, wait, sender } = meta;
  return {
    captured,
    delivered,
    pending: meta.events - inDoubt,
    inDoubt,
    deadLetters,
    discarded,
    evicted,
    expired,
    purged,
    // Asked last: reading may be what finds out.
    memoryMode: isMemory(),
    sender: sender?.tab === tab && isAhead(sender.until, now, LEASE_MS),
    waitingUntil: isAhead(wait.until, now, LONGEST_WAIT_MS) ? wait.until : null,
  };
};
