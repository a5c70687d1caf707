import { isAhead, MAX_WAIT_MS } from '../../platform/deadline.ts';
import type { DeliveryContext } from '../context.ts';
import type { Diagnostics } from '../delivery.ts';
import type { Log } from './log.ts';
import { type Claim, DEAD_RANGE, EVENT_RANGE, isLive, keyText, TOTALS } from './records.ts';

/** A log that changes while it is counted is counted again, at most this often. */
const MAX_COUNTS = 3;

/**
 * Where every event is. What was captured is not counted as it comes: it is the sum of what has left the log and of what
 * is still there.
 */
export const readDiagnostics = async ({ tab, clock }: DeliveryContext, log: Log): Promise<Diagnostics> => {
  const now = clock.now();
  for (let counts = 1; ; counts += 1) {
    const { control, claims } = await log.overview();
    const over = new Set(
      claims.filter((each) => !isLive(each, now)).flatMap((each: Claim) => each.keys.map(keyText)),
    );
    let events = 0;
    let inDoubt = 0;
    let deadLetters = 0;
    for await (const { key, event } of log.read(EVENT_RANGE)) {
      events += 1;
      if (event?.doubt !== undefined || over.has(keyText(key))) inDoubt += 1;
    }
    for await (const _ of log.read(DEAD_RANGE)) deadLetters += 1;
    const isChanged = JSON.stringify(await log.control()) !== JSON.stringify(control);
    if (isChanged && counts < MAX_COUNTS) continue;

    const { delivered, discarded, evicted, expired, purged, wait, claim } = control;
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
      sender: claim?.tab === tab && isLive(claim, now),
      waitingUntil: isAhead(wait.until, now, MAX_WAIT_MS) ? wait.until : null,
    };
  }
};
