import type { EventType } from '../../banner-event.ts';
import { isAhead, LEAP_MS, LONGEST_ANSWER_MS } from '../../platform/deadline.ts';
import type { StoreKey } from '../../platform/store.ts';
import type { DeliveryPage } from '../page.ts';
import type { Total } from './control.ts';
import type { Log } from './log.ts';
import {
  type Batch,
  bannerEvent,
  batchKey,
  bytesOf,
  COUNTED_RANGE,
  type CountedRecord,
  DEAD_RANGE,
  type DeadRecord,
  EVENT_RANGE,
  type EventKey,
  isCorrupt,
  keyText,
  readEvent,
  type StoredEvent,
  type Writes,
} from './records.ts';

/** Records in one transaction. */
const SLICE = 200;
/** Down to this part of a cap, so that a full log is not read for every event. */
const HEADROOM = 0.95;
/** Of what was stored when the disk was full, the part that is stored from then on. */
const FULL_SHARE = 0.75;
/** How often the whole log is read for what is too old. */
const EXPIRE_MS = 60 * 60_000;
/** Marks of events that count once: more than these push out the oldest. */
const MAX_COUNTED = 500;

/** What an event is worth when not all can be kept: a lost dismissal shows the banner again, impressions are many. */
export const EVENT_VALUE: Record<EventType, number> = { impression: 0, click: 1, dismiss: 2 };

/** An event or a dead letter that may be removed. */
interface Found {
  key: StoreKey;
  event: StoredEvent;
}

export interface UpkeepOptions {
  log: Log;
  page: DeliveryPage;
  /** These left the log. */
  onGone: (keys: EventKey[]) => void;
}

/** Keeps the log under its caps by count, bytes and age; every event that is removed is counted with a reason. */
export const createUpkeep = ({ log, page, onGone }: UpkeepOptions) => {
  const { now, monotonic } = page.clock;
  const { maxEvents, maxBytes, maxAgeMs } = page.options;
  /** Shrinks where the browser gives less (private mode). */
  let bytesCap = maxBytes;
  /** What this page has appended since the caps were checked. */
  let events = 0;
  let bytes = 0;
  let expiredAt = Number.NEGATIVE_INFINITY;
  /** How far the device's clock was ahead of the monotonic one then. */
  let ahead = now() - monotonic();

  const readFound = (key: StoreKey, record: unknown): Found | undefined => {
    const isDead = (key as string[])[0] === 'dead';
    const event = readEvent(isDead ? (record as DeadRecord | undefined)?.event : record);
    return event && { key, event };
  };

  /** All that is stored. What is part of an open batch may not go: its answer may still come. */
  const findAll = async () => {
    const { batches } = await log.overview();
    const open = new Set(batches.flatMap(({ keys }) => keys.map(keyText)));
    const free: Found[] = [];
    let total = 0;
    let size = 0;
    for (const range of [EVENT_RANGE, DEAD_RANGE]) {
      for await (const records of log.pages(range)) {
        for (const [key, record] of records) {
          const found = readFound(key, record);
          if (found === undefined) continue;
          total += 1;
          size += bytesOf(found.event);
          if (!open.has(keyText(key as EventKey))) free.push(found);
        }
      }
    }
    return { batches, free, total, size };
  };

  const remove = async (victims: Found[], reason: Exclude<Total, 'delivered'>): Promise<void> => {
    for (let from = 0; from < victims.length; from += SLICE) {
      const slice = victims.slice(from, from + SLICE);
      let gone: Found[] = [];
      await log.step(
        slice.map(({ key }) => key),
        (control, records) => {
          gone = slice.filter(({ key }, i) => readFound(key, records[i]) !== undefined);
          control[reason] += gone.length;
          return gone.length > 0 ? gone.map(({ key }) => [key, undefined]) : null;
        },
      );
      if (gone.length === 0) continue;
      onGone(gone.map(({ key }) => key as EventKey));
      for (const { event } of gone) page.notify({ type: 'dropped', event: bannerEvent(event), reason });
    }
  };

  const forget = (batches: Batch[]): Promise<void> =>
    log.step([], () => batches.map(({ id }) => [batchKey(id), undefined]));

  /** Gives up what is older than the age cap, whole batches too once no answer can come. */
  const expire = async (): Promise<void> => {
    const limit = now() - maxAgeMs;
    const { batches } = await log.overview();
    const isOld = ({ keys, until }: Batch): boolean =>
      keys.every(([, , time]) => time < limit) && !isAhead(until, now(), LONGEST_ANSWER_MS);
    const old = batches.filter(isOld);
    if (old.length > 0) await forget(old);
    const { free } = await findAll();
    await remove(
      free.filter(({ event }) => event.time < limit),
      'expired',
    );
  };

  const evict = async (): Promise<void> => {
    const { free, total, size } = await findAll();
    if (total <= maxEvents && size <= bytesCap) return;
    free.sort((a, b) => EVENT_VALUE[a.event.type] - EVENT_VALUE[b.event.type] || a.event.time - b.event.time);
    let spareEvents = total - maxEvents * HEADROOM;
    let spareBytes = size - bytesCap * HEADROOM;
    const victims: Found[] = [];
    for (const found of free) {
      if (spareEvents <= 0 && spareBytes <= 0) break;
      victims.push(found);
      spareEvents -= 1;
      spareBytes -= bytesOf(found.event);
    }
    await remove(victims, 'evicted');
  };

  const pruneCounted = async (): Promise<void> => {
    const marks: [StoreKey, CountedRecord][] = [];
    for await (const records of log.pages<CountedRecord>(COUNTED_RANGE)) marks.push(...records);
    if (marks.length <= MAX_COUNTED) return;
    marks.sort(([, a], [, b]) => b.at - a.at);
    await log.write(marks.slice(MAX_COUNTED / 2).map(([key]) => [key, undefined]));
  };

  const isOver = (): boolean => {
    const share = 1 - HEADROOM;
    return events > maxEvents * share || bytes > bytesCap * share;
  };

  return {
    /** This page has appended these: true where the caps must be checked now. */
    appended(stored: StoredEvent[]): boolean {
      events += stored.length;
      for (const event of stored) bytes += bytesOf(event);
      return isOver();
    },

    /** Checks the caps where they may be exceeded, and once an hour what is too old. */
    async tidy(): Promise<void> {
      if (monotonic() - expiredAt > EXPIRE_MS) {
        const before = ahead;
        expiredAt = monotonic();
        ahead = now() - expiredAt;
        // A clock that leapt may be wrong for a while, and what is removed is lost: the next look believes it.
        if (ahead - before < LEAP_MS) await expire();
        await pruneCounted();
      }
      // More may be stored while the first are removed.
      while (isOver()) {
        [events, bytes] = [0, 0];
        await evict();
      }
    },

    /** The disk is full: up to half goes, and the cap stays well under what was there. False when nothing was freed. */
    async shrink(): Promise<boolean> {
      const { free, size } = await findAll();
      const impressions = free.filter(({ event }) => event.type === 'impression');
      const victims = (impressions.length > 0 ? impressions : free).slice(0, Math.ceil(free.length / 2));
      await remove(victims, 'evicted');
      if (victims.length > 0) bytesCap = Math.min(bytesCap, size * FULL_SHARE);
      return victims.length > 0;
    },

    /** Forgets every event, batch and dead letter; the totals stay. */
    async purge(): Promise<void> {
      log.owePurge();
      const { batches } = await log.overview();
      await log.step([], (control) => {
        if (batches.length + control.batched.length === 0) return null;
        control.batched = [];
        return batches.map(({ id }) => [batchKey(id), undefined]);
      });
      await remove((await findAll()).free, 'purged');
      log.retry();
    },

    /**
     * Puts records aside that cannot be used; an event counts as evicted. A batch has nothing of its own: its events go on
     * without it.
     */
    async quarantine(keys: StoreKey[]): Promise<void> {
      await log.step(keys, (control, records) =>
        keys.flatMap((key, i): Writes => {
          if (!isCorrupt([key, records[i]])) return [];
          const isEvent = (key as string[])[0] === 'event';
          control.evicted += Number(isEvent);
          const aside: StoreKey = ['quarantine', ...(key as string[])];
          return [[key, undefined], ...(isEvent ? ([[aside, records[i]]] as Writes) : [])];
        }),
      );
      const message = `${keys.length} stored records cannot be read`;
      page.notify({ type: 'failed', kind: 'storage', message });
    },
  };
};

export type Upkeep = ReturnType<typeof createUpkeep>;
