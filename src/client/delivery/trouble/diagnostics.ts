import type { DeliveryContext, Diagnostics } from '../delivery.ts';
import type { Log } from '../log/log.ts';
import type { SharedFunctions } from './shared-functions.ts';

/**
 * Returns the number of events by state, from one read. Captured events have no counter; their number is the sum of the events
 * that left the log and the events still stored.
 */
export const readDiagnostics = async (
  {
    isExclusive,
    isEventKey,
    isLive,
    isNewer,
    isPaused,
    formatKey,
    toRange,
    readEvent,
    TOTALS,
  }: SharedFunctions,
  { pageId, clock }: DeliveryContext,
  log: Log,
): Promise<Diagnostics> => {
  const now = clock.now();
  const { state, claims, records } = await log.snapshot({
    // All records of this version, and some of later versions.
    from: toRange('control').from,
    to: toRange('event').to,
  });
  const over = new Set(
    claims.filter((each) => !isLive(each, now)).flatMap(({ keys }) => keys.map(formatKey)),
  );
  let events = 0;
  let inDoubt = 0;
  let deadLetters = 0;
  for (const [key, record] of records) {
    if (isNewer(record)) continue;
    const [kind] = [key].flat();
    if (kind === 'dead') deadLetters += 1;
    if (kind !== 'event') continue;
    events += 1;
    const isOver = isEventKey(key) && over.has(formatKey(key));
    if (isOver || readEvent(record)?.inDoubtClaimId !== undefined) inDoubt += 1;
  }
  const { delivered, discarded, evicted, expired, purged, pause } = state;
  return {
    captured: TOTALS.reduce((sum, total) => sum + state[total], events + deadLetters),
    delivered,
    pending: events - inDoubt,
    inDoubt,
    deadLetters,
    discarded,
    evicted,
    expired,
    purged,
    memoryMode: log.store.isMemory(),
    isLeader: claims.some((claim) => claim.pageId === pageId && isExclusive(claim, now)),
    pausedUntil: isPaused(pause, now) ? pause.until : null,
  };
};
