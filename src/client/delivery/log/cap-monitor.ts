import type { DeliveryContext } from '../delivery.ts';
import { CHECK_MS, MIN_DEDUP_MS, SLACK, SLICE } from '../limits.ts';
import type { Log } from './log.ts';
import { isQuotaError } from './log-store.ts';
import { EVENT_RANGE, estimateBytes, type QueuedEvent, toRange } from './records.ts';

/** Detects when the log is over a cap (count, bytes, age) or the disk is full, and lets the trouble chunk free space. */
export const createCapMonitor = (context: DeliveryContext, log: Log) => {
  const { clock, options, trouble } = context;
  const { now, monotonic } = clock;
  const { maxEvents, maxBytes, maxAgeMs } = options;
  /** Events and bytes appended since the last check. */
  let events = 0;
  let bytes = 0;
  let checkedAt = Number.NEGATIVE_INFINITY;
  const caps = {
    /** Lowered if the browser grants less space than the host's cap, as in private mode. */
    bytes: maxBytes,
  };
  const isOverSlack = (): boolean => events > maxEvents * SLACK || bytes > caps.bytes * SLACK;

  /** Returns whether one short read shows that no record is expired, damaged or over a cap. */
  const isWithinCaps = async (): Promise<boolean> => {
    const { expiredFoundAt, scannedEvents } = await log.state();
    if (expiredFoundAt > 0 || scannedEvents > 0) return false;
    const limit = Math.min(SLICE, maxEvents) + 1;
    let size = 0;
    let found = 0;
    for await (const { event } of log.read(EVENT_RANGE)) {
      if (!event || event.time < now() - maxAgeMs || ++found === limit) return false;
      size += estimateBytes(event);
    }
    if (size > caps.bytes || (await log.store.entries({ ...toRange('dead'), limit: 1 }))[0]) return false;
    const oldMarks = log.oldDedupMarks(now() - Math.max(maxAgeMs, MIN_DEDUP_MS));
    return (await oldMarks.next()).done === true;
  };

  return {
    caps,
    /** Counts events that this page appended. */
    appended(stored: QueuedEvent[]): void {
      events += stored.length;
      for (const { event } of stored) bytes += estimateBytes(event);
    },
    /** Returns whether enough was appended for `enforceCaps` to be due. */
    isDue: isOverSlack,

    /** Checks the caps at page start, once an hour, and after many appends. */
    async enforceCaps(): Promise<void> {
      const isHourlyCheckDue = monotonic() - checkedAt > CHECK_MS;
      const isOver = isOverSlack();
      if (!isHourlyCheckDue && !isOver) return;
      if (isOver || !(await isWithinCaps())) {
        const { enforceCaps } = await trouble();
        [events, bytes] = [0, 0];
        // Starts the next interval, regardless of what the check finds.
        if (isHourlyCheckDue) checkedAt = monotonic();
        await enforceCaps(isHourlyCheckDue, isOver);
      }
      if (isHourlyCheckDue) checkedAt = monotonic();
    },

    /**
     * Runs work that writes the events `written`, or a user decision. If the disk is full, frees space and runs it again; if
     * that is impossible, switches to memory mode.
     */
    async retryOnQuota<T>(work: () => Promise<T>, written?: QueuedEvent[]): Promise<T> {
      for (let failures = 1; ; failures += 1) {
        try {
          return await work();
        } catch (error) {
          // After any other failure the log is already in memory mode.
          if (!isQuotaError(error)) throw error;
          const isFreed = await trouble()
            .then(({ freeSpace }) => freeSpace(failures, written))
            .catch(() => false);
          if (!isFreed) log.store.switchToMemory(new Error('storage quota exceeded'));
        }
      }
    },
  };
};

export type CapMonitor = ReturnType<typeof createCapMonitor>;
