import type { EventType } from '../../banner-event.ts';
import { LEAP_MS } from '../../platform/deadline.ts';
import type { DeliveryContext } from '../context.ts';
import type { Log } from './log.ts';
import {
  type Batch,
  bannerEvent,
  batchKey,
  batchState,
  bytesOf,
  DEAD_RANGE,
  EVENT_RANGE,
  type EventKey,
  keyText,
  type QueuedEvent,
  type Total,
} from './records.ts';

/** Records in one transaction. */
const SLICE = 200;
/**
 * The caps are checked when this share of a cap has been appended since the last check. An eviction goes below the cap by the
 * same share, so that the next event does not cause another one.
 */
const SLACK = 0.05;
/** After a full disk, the cap is this share of the bytes that were stored then. */
const FULL_SHARE = 0.75;
/** A session may last longer than the host keeps events, and knows for all of it what it has counted. */
const MIN_COUNTED_MS = 24 * 60 * 60_000;
/** How often the log is read for what is too old. */
const EXPIRE_MS = 60 * 60_000;

/** What an event is worth when not all can be kept: a lost dismissal shows the banner again, impressions are many. */
export const EVENT_VALUE: Record<EventType, number> = { impression: 0, click: 1, dismiss: 2 };

/** Keeps the log under its caps by count, bytes and age; every event that is removed is counted with a reason. */
export const createUpkeep = (context: DeliveryContext, log: Log, onGone: (keys: EventKey[]) => void) => {
  const { now, monotonic } = context.clock;
  const { maxEvents, maxBytes, maxAgeMs } = context.options;
  /** Shrinks where the browser gives less (private mode). */
  let bytesCap = maxBytes;
  /** What this page has appended since the caps were checked. */
  let events = 0;
  let bytes = 0;
  let expiredAt = Number.NEGATIVE_INFINITY;
  /** How far the device's clock was ahead of the monotonic one at the last check. */
  let ahead = now() - monotonic();

  /**
   * Finds the events that may be removed. Those of an open batch may not: its answer may still come. A batch that `isExpired`
   * accepts is ended first, and its events are free.
   */
  const findFree = async (isExpired: (batch: Batch) => boolean = () => false) => {
    const { batches } = await log.overview();
    const over = batches.filter(isExpired);
    await log.step([], () => (over.length > 0 ? over.map(({ id }) => [batchKey(id), undefined]) : null));
    const open = new Set(batches.flatMap((batch) => (isExpired(batch) ? [] : batch.keys.map(keyText))));
    const free: QueuedEvent[] = [];
    let total = 0;
    let size = 0;
    for (const range of [EVENT_RANGE, DEAD_RANGE]) {
      for await (const { key, event } of log.read(range)) {
        if (event === undefined) continue;
        total += 1;
        size += bytesOf(event);
        if (!open.has(keyText(key))) free.push({ key, event });
      }
    }
    return { free, total, size };
  };

  const remove = async (victims: QueuedEvent[], reason: Exclude<Total, 'delivered'>): Promise<void> => {
    for (let from = 0; from < victims.length; from += SLICE) {
      const slice = victims.slice(from, from + SLICE);
      let gone: QueuedEvent[] = [];
      await log.step(
        slice.map(({ key }) => key),
        (control, records) => {
          gone = slice.filter((_, i) => records[i] !== undefined);
          control[reason] += gone.length;
          return gone.length > 0 ? gone.map(({ key }) => [key, undefined]) : null;
        },
      );
      onGone(gone.map(({ key }) => key));
      for (const { event } of gone) context.notify({ type: 'dropped', event: bannerEvent(event), reason });
    }
  };

  /** Removes what is older than the age cap, whole batches too once no answer can come. */
  const expire = async (): Promise<void> => {
    const limit = now() - maxAgeMs;
    const isExpired = (batch: Batch): boolean =>
      batch.keys.every(([, , time]) => time < limit) && batchState(batch, now()) !== 'sending';
    const { free } = await findFree(isExpired);
    await remove(
      free.filter(({ event }) => event.time < limit),
      'expired',
    );
    await log.forgetCounted(Math.min(limit, now() - MIN_COUNTED_MS));
  };

  const mayExceedCaps = (): boolean => events > maxEvents * SLACK || bytes > bytesCap * SLACK;

  /** Removes the events of least value, the oldest first, where a cap is exceeded. */
  const evict = async (): Promise<void> => {
    [events, bytes] = [0, 0];
    const { free, total, size } = await findFree();
    if (total <= maxEvents && size <= bytesCap) return;
    let spareEvents = total - maxEvents * (1 - SLACK);
    let spareBytes = size - bytesCap * (1 - SLACK);
    free.sort((a, b) => EVENT_VALUE[a.event.type] - EVENT_VALUE[b.event.type] || a.event.time - b.event.time);
    const victims = free.filter(({ event }) => {
      const isVictim = spareEvents > 0 || spareBytes > 0;
      spareEvents -= 1;
      spareBytes -= bytesOf(event);
      return isVictim;
    });
    await remove(victims, 'evicted');
  };

  return {
    /** This page has appended these: true where the caps must be checked now. */
    appended(stored: QueuedEvent[]): boolean {
      events += stored.length;
      for (const { event } of stored) bytes += bytesOf(event);
      return mayExceedCaps();
    },

    /** Checks the caps where they may be exceeded, and once an hour what is too old. */
    async tidy(): Promise<void> {
      if (monotonic() - expiredAt > EXPIRE_MS) {
        const before = ahead;
        expiredAt = monotonic();
        ahead = now() - expiredAt;
        // A clock that leapt may be wrong for a while, and removed events are lost. The next check trusts it.
        if (ahead - before < LEAP_MS) await expire();
      }
      if (mayExceedCaps()) await evict();
    },

    /** The disk is full: evicts up to half of the events, of the least value alone, and lowers the cap. False when nothing was freed. */
    async shrink(): Promise<boolean> {
      const { free, size } = await findFree();
      const least = Math.min(...free.map(({ event }) => EVENT_VALUE[event.type]));
      const victims = free
        .filter(({ event }) => EVENT_VALUE[event.type] === least)
        .slice(0, Math.ceil(free.length / 2));
      await remove(victims, 'evicted');
      if (victims.length > 0) bytesCap = Math.min(bytesCap, size * FULL_SHARE);
      return victims.length > 0;
    },

    /** Forgets every event, batch and dead letter; the totals stay. */
    async purge(): Promise<void> {
      log.owePurge();
      await remove((await findFree(() => true)).free, 'purged');
      await log.retry();
    },
  };
};

export type Upkeep = ReturnType<typeof createUpkeep>;
