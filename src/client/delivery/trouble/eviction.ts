import type { StoreKey } from '../../platform/store.ts';
import type { DeliveryContext } from '../delivery.ts';
import {
  CAP_CHECK_INTERVAL_MS,
  CAP_TOLERANCE,
  MAX_TRANSACTION_RECORDS,
  MIN_DEDUP_MS,
  SCHEMA_VERSION,
} from '../limits.ts';
import type { Log } from '../log/log.ts';
import type { QueuedEvent, Total, Writes } from '../log/records.ts';
import type { SharedFunctions } from './shared-functions.ts';

/** Share of the stored bytes to which a full disk lowers the cap. */
const FULL_SHARE = 0.75;

/**
 * Keeps the log under its caps (count, bytes, age), and frees space on a full disk. Every removed event is counted with a
 * reason.
 */
export const createEviction = (shared: SharedFunctions, context: DeliveryContext, log: Log) => {
  const {
    bannerEvent,
    claimKey,
    estimateBytes,
    eventValue,
    isCorrupt,
    isPendingDeadline,
    isLive,
    isQuotaError,
    formatKey,
    toRange,
  } = shared;
  const { now } = context.clock;
  const { maxEvents, maxAgeMs } = context.options;

  /** Reads all stored events. `free` contains the events in no pending request; only these can expire or be evicted. */
  const measureUsage = async () => {
    const { claims } = await log.snapshot();
    const claimed = new Set(
      claims.filter((claim) => isLive(claim, now())).flatMap(({ keys }) => keys.map(formatKey)),
    );
    const all: QueuedEvent[] = [];
    let size = 0;
    for (const kind of ['event', 'dead']) {
      for await (const { key, event } of log.read(toRange(kind))) {
        if (event === undefined) continue;
        all.push({ key, event });
        size += estimateBytes(event);
      }
    }
    return { all, free: all.filter(({ key }) => !claimed.has(formatKey(key))), size };
  };

  const remove = async (victims: QueuedEvent[], reason: Exclude<Total, 'delivered'>): Promise<void> => {
    for (let from = 0; from < victims.length; from += MAX_TRANSACTION_RECORDS) {
      const slice = victims.slice(from, from + MAX_TRANSACTION_RECORDS);
      let gone: QueuedEvent[] = [];
      await log.transact(
        slice.map(({ key }) => key),
        (state, records) => {
          gone = slice.filter((_, i) => records[i] !== undefined);
          state[reason] += gone.length;
          return gone.length > 0 ? gone.map(({ key }) => [key, undefined]) : null;
        },
      );
      for (const { event } of gone) context.notify({ type: 'dropped', event: bannerEvent(event), reason });
    }
  };

  /**
   * Returns whether another page scanned the log within the hour and little was appended since. Otherwise, each page view would
   * spend seconds on a scan of thousands of events. Reads at most one slice.
   */
  const wasScanned = async (): Promise<boolean> => {
    const { scannedAt, scannedEvents } = await log.state();
    const isRecent = isPendingDeadline(scannedAt + CAP_CHECK_INTERVAL_MS, now(), CAP_CHECK_INTERVAL_MS);
    const limit = Math.ceil(Math.min(MAX_TRANSACTION_RECORDS, scannedEvents * CAP_TOLERANCE));
    const since = { ...toRange('event'), from: ['event', SCHEMA_VERSION, scannedAt + 1], limit };
    return isRecent && limit > 0 && (await log.store.entries(since)).length < limit;
  };
  /** Records the scan, unless the backlog fits in one read. On a full disk, each page scans again. */
  const recordScan = async (stayed: number): Promise<void> => {
    const scannedEvents = stayed > MAX_TRANSACTION_RECORDS ? stayed : 0;
    if (scannedEvents === 0 && log.cache.state().scannedEvents === 0) return;
    await log
      .transact([], (state) => {
        state.scannedAt = now();
        state.scannedEvents = scannedEvents;
        return [];
      })
      .catch((error) => {
        if (!isQuotaError(error)) throw error;
      });
  };

  const deleteOldDedupMarks = async (time: number): Promise<void> => {
    const old: StoreKey[] = [];
    for await (const key of log.oldDedupMarks(time)) old.push(key);
    for (let from = 0; from < old.length; from += MAX_TRANSACTION_RECORDS)
      await log.store.deleteMany(old.slice(from, from + MAX_TRANSACTION_RECORDS));
  };

  /**
   * Removes expired events one hour after a page first found them, because a clock may be temporarily wrong and removed events
   * are lost. Returns the remaining events.
   */
  const expire = async (free: QueuedEvent[]): Promise<QueuedEvent[]> => {
    const limit = now() - maxAgeMs;
    const countedLimit = Math.min(limit, now() - MIN_DEDUP_MS);
    const old = free.filter(({ event }) => event.time < limit);
    const isOld = old.length > 0 || !(await log.oldDedupMarks(countedLimit).next()).done;
    let isTrusted = false;
    await log.transact([], (state) => {
      const { expiredFoundAt } = state;
      const age = now() - expiredFoundAt;
      isTrusted = isOld && expiredFoundAt > 0 && age >= CAP_CHECK_INTERVAL_MS;
      // The next finding needs its own hour, because the clock may be wrong by then.
      const isKnown = isOld && expiredFoundAt > 0 && age >= 0;
      const next = isTrusted || !isOld ? 0 : isKnown ? expiredFoundAt : now();
      if (next === expiredFoundAt) return null;
      state.expiredFoundAt = next;
      return [];
    });
    if (!isTrusted) return free;
    await remove(old, 'expired');
    await deleteOldDedupMarks(countedLimit);
    return free.filter((item) => !old.includes(item));
  };

  /**
   * Evicts up to half of the events, only of the lowest value and at most as valuable as `written`, and lowers the cap. Returns
   * `false` if nothing was freed.
   */
  const evictEvents = async (written: QueuedEvent[] | undefined): Promise<boolean> => {
    const { free, size } = await measureUsage();
    // Not `Math.max(...)`, because there may be more events than a call accepts arguments.
    const most = written?.reduce((value, { event }) => Math.max(value, eventValue(event.type)), 0);
    const least = free.reduce(
      (value, { event }) => Math.min(value, eventValue(event.type)),
      most ?? Infinity,
    );
    const victims = free
      .filter(({ event }) => eventValue(event.type) === least)
      .slice(0, Math.ceil(free.length / 2));
    await remove(victims, 'evicted');
    if (victims.length > 0) log.caps.bytes = Math.min(log.caps.bytes, size * FULL_SHARE);
    return victims.length > 0;
  };

  return {
    async removeCorrupt(keys: StoreKey[]): Promise<void> {
      let corrupt: Writes = [];
      await log.transact(keys, (state, records) => {
        corrupt = keys.map((key, i): Writes[0] => [key, records[i]]).filter(isCorrupt);
        state.evicted += corrupt.filter(([key]) => [key].flat()[0] === 'event').length;
        return corrupt.map(([key]) => [key, undefined]);
      });
      // Another tab may have removed them first.
      if (corrupt.length > 0) context.fail('storage', `Removed ${corrupt.length} corrupt records`, corrupt);
    },

    async enforceCaps(isHourlyCheckDue: boolean, isOver: boolean): Promise<void> {
      if (!isOver && (await wasScanned())) return;
      const { all, free: found, size } = await measureUsage();
      let free = found;
      if (isHourlyCheckDue) free = await expire(found);
      const kept = new Set(free);
      const expired = found.filter((item) => !kept.has(item));
      let excessBytes =
        size - expired.reduce((sum, { event }) => sum + estimateBytes(event), 0) - log.caps.bytes;
      let excessEvents = all.length - expired.length - maxEvents;
      if (excessEvents <= 0 && excessBytes <= 0) return recordScan(all.length - expired.length);
      excessEvents += maxEvents * CAP_TOLERANCE;
      excessBytes += log.caps.bytes * CAP_TOLERANCE;
      free.sort((a, b) => eventValue(a.event.type) - eventValue(b.event.type) || a.event.time - b.event.time);
      const victims = free.filter(({ event }) => {
        const isVictim = excessEvents > 0 || excessBytes > 0;
        excessEvents -= 1;
        excessBytes -= estimateBytes(event);
        return isVictim;
      });
      await remove(victims, 'evicted');
      await recordScan(all.length - expired.length - victims.length);
    },

    async freeSpace(failures: number, written?: QueuedEvent[]): Promise<boolean> {
      if (failures > 1) return evictEvents(written);
      try {
        await context.evictCache?.();
      } catch {
        // The host's cache may fail like any other store.
      }
      return true;
    },

    async purge(until: number): Promise<void> {
      // Only confirmations of pending requests still count.
      await log.transact([], (_state, _values, claims) => claims.map(({ id }) => [claimKey(id), undefined]));
      const { all } = await measureUsage();
      await remove(
        all.filter(({ event }) => event.time <= until),
        'purged',
      );
      await deleteOldDedupMarks(until);
    },
  };
};
