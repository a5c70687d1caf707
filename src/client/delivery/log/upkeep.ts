import type { EventType } from '../../banner.ts';
import { isAhead } from '../../platform/waits.ts';
import type { DeliveryContext } from '../delivery.ts';
import type { Log } from './log.ts';
import { isQuota } from './log-store.ts';
import type { Total } from './records.ts';
import {
  bannerEvent,
  bytesOf,
  DEAD_RANGE,
  EVENT_RANGE,
  isLive,
  keyText,
  type QueuedEvent,
  VERSION,
} from './records.ts';

/** Records in one transaction. */
const SLICE = 200;
/** A page looks again when it has appended this share of a cap; an eviction goes below the cap by the same share. */
const SLACK = 0.05;
/** After a full disk, the cap is this share of the bytes that were stored then. */
const FULL_SHARE = 0.75;
/** A session may last longer than the host keeps events, and knows for all of it what it has counted. */
const MIN_COUNTED_MS = 24 * 60 * 60_000;
/** How often a page that appends little looks. */
const TIDY_MS = 60 * 60_000;

/** What an event is worth when not all can be kept: a lost dismissal shows the banner again, impressions are many. */
export const EVENT_VALUE: Record<EventType, number> = { impression: 0, click: 1, dismiss: 2 };

/**
 * Keeps the log under its caps by count, bytes and age, and frees space on a full disk. Every event that is removed is counted with a
 * reason.
 */
export const createUpkeep = (context: DeliveryContext, log: Log) => {
  const { now, monotonic } = context.clock;
  const { maxEvents, maxBytes, maxAgeMs } = context.options;
  /** Becomes smaller where the browser gives less space than the host's cap, as in private mode. */
  let bytesCap = maxBytes;
  /** What this page has appended since it looked at the caps last. */
  let events = 0;
  let bytes = 0;
  let tidiedAt = Number.NEGATIVE_INFINITY;

  /** What is stored. `free` are the events that are in no request under way: caps and age may remove those. */
  const survey = async () => {
    const { claims } = await log.overview();
    const claimed = new Set(
      claims.filter((claim) => isLive(claim, now())).flatMap(({ keys }) => keys.map(keyText)),
    );
    const all: QueuedEvent[] = [];
    let size = 0;
    for (const range of [EVENT_RANGE, DEAD_RANGE]) {
      for await (const { key, event } of log.read(range)) {
        if (event === undefined) continue;
        all.push({ key, event });
        size += bytesOf(event);
      }
    }
    return { all, free: all.filter(({ key }) => !claimed.has(keyText(key))), size };
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
      for (const { event } of gone) context.notify({ type: 'dropped', event: bannerEvent(event), reason });
    }
  };

  /**
   * Whether another page has looked at all of it within the hour, and little was appended since. A backlog of thousands would cost each
   * page view seconds. Reads no more than one slice.
   */
  const isTidied = async (): Promise<boolean> => {
    const { tidiedAt, tidied } = await log.control();
    const isRecent = isAhead(tidiedAt + TIDY_MS, now(), TIDY_MS);
    const limit = Math.ceil(Math.min(SLICE, tidied * SLACK));
    const since = { ...EVENT_RANGE, from: ['event', VERSION, tidiedAt + 1], limit };
    return isRecent && limit > 0 && (await log.place.entries(since)).length < limit;
  };
  /** A backlog that one read brings is not worth a write. On a full disk each page looks for itself. */
  const noteTidied = async (stayed: number): Promise<void> => {
    if (stayed <= SLICE) return;
    await log
      .step([], (control) => {
        control.tidiedAt = now();
        control.tidied = stayed;
        return [];
      })
      .catch((error) => {
        if (!isQuota(error)) throw error;
      });
  };

  const isOverSlack = (): boolean => events > maxEvents * SLACK || bytes > bytesCap * SLACK;

  /**
   * Removes what is too old, an hour after a page has first found it so: a clock may be wrong for a while, and removed events
   * are lost. Returns what stays.
   */
  const expire = async (free: QueuedEvent[]): Promise<QueuedEvent[]> => {
    const limit = now() - maxAgeMs;
    const countedLimit = Math.min(limit, now() - MIN_COUNTED_MS);
    const old = free.filter(({ event }) => event.time < limit);
    const isOld = old.length > 0 || (await log.hasCounted(countedLimit));
    let isTrusted = false;
    await log.step([], (control) => {
      const { oldSince } = control;
      const age = now() - oldSince;
      isTrusted = isOld && oldSince > 0 && age >= TIDY_MS;
      // What is found next needs an hour of its own: the clock may be wrong by then.
      const isKnown = isOld && oldSince > 0 && age >= 0;
      const next = isTrusted || !isOld ? 0 : isKnown ? oldSince : now();
      if (next === oldSince) return null;
      control.oldSince = next;
      return [];
    });
    if (!isTrusted) return free;
    await remove(old, 'expired');
    await log.forgetCounted(countedLimit);
    return free.filter((item) => !old.includes(item));
  };

  const evictCache = async (): Promise<void> => context.host.evict?.();

  /**
   * Evicts up to half of the events, of the least value alone, and lowers the cap. None is worth more than all of `written`. False when
   * nothing was freed.
   */
  const evictEvents = async (written: QueuedEvent[] | undefined): Promise<boolean> => {
    const { free, size } = await survey();
    // There may be more events than a call takes arguments.
    const most = written?.reduce((value, { event }) => Math.max(value, EVENT_VALUE[event.type]), 0);
    const least = free.reduce(
      (value, { event }) => Math.min(value, EVENT_VALUE[event.type]),
      most ?? Infinity,
    );
    const victims = free
      .filter(({ event }) => EVENT_VALUE[event.type] === least)
      .slice(0, Math.ceil(free.length / 2));
    await remove(victims, 'evicted');
    if (victims.length > 0) bytesCap = Math.min(bytesCap, size * FULL_SHARE);
    return victims.length > 0;
  };

  return {
    /** This page has appended these. */
    appended(stored: QueuedEvent[]): void {
      events += stored.length;
      for (const { event } of stored) bytes += bytesOf(event);
    },
    /** Whether so much was appended that `tidy` is due now. */
    isDue: isOverSlack,

    /** Looks when a page starts, once an hour, and when much was appended: what is too old goes, then what is over a cap, the least and oldest first. */
    async tidy(): Promise<void> {
      const isHour = monotonic() - tidiedAt > TIDY_MS;
      const isOver = isOverSlack();
      if (!isHour && !isOver) return;
      if (!isOver && (await isTidied())) {
        tidiedAt = monotonic();
        return;
      }
      [events, bytes] = [0, 0];
      const { all, free: found, size } = await survey();
      let free = found;
      if (isHour) {
        tidiedAt = monotonic();
        free = await expire(found);
      }
      const kept = new Set(free);
      const expired = found.filter((item) => !kept.has(item));
      let spareBytes = size - expired.reduce((sum, { event }) => sum + bytesOf(event), 0) - bytesCap;
      let spareEvents = all.length - expired.length - maxEvents;
      if (spareEvents <= 0 && spareBytes <= 0) return noteTidied(all.length - expired.length);
      spareEvents += maxEvents * SLACK;
      spareBytes += bytesCap * SLACK;
      free.sort(
        (a, b) => EVENT_VALUE[a.event.type] - EVENT_VALUE[b.event.type] || a.event.time - b.event.time,
      );
      const victims = free.filter(({ event }) => {
        const isVictim = spareEvents > 0 || spareBytes > 0;
        spareEvents -= 1;
        spareBytes -= bytesOf(event);
        return isVictim;
      });
      await remove(victims, 'evicted');
      await noteTidied(all.length - expired.length - victims.length);
    },

    /**
     * Runs work that writes the events `written`, or a decision of the user. Where the disk is too full for it, the host's banner cache is evicted, and
     * the work runs again. Where that was not enough, events are evicted as often as that frees some: none that is worth more than what is
     * written, and any for a decision. Where nothing is left to evict, the log goes on in memory.
     */
    async retryOnQuota<T>(work: () => Promise<T>, written?: QueuedEvent[]): Promise<T> {
      for (let failures = 1; ; failures += 1) {
        try {
          return await work();
        } catch (error) {
          // For any other failure the log has gone on in memory already.
          if (!isQuota(error)) throw error;
          // The host's cache may fail like any other store, and a disk may be too full for an eviction, which writes as well.
          if (failures === 1) await evictCache().catch(() => undefined);
          else if (!(await evictEvents(written).catch(() => false)))
            log.place.degrade(new Error('the storage quota is used up'));
        }
      }
    },

    /**
     * Deletes every event and dead letter up to this time, also those in a request under way, and what says which banners were seen. The
     * totals stay.
     */
    async purge(until: number): Promise<void> {
      log.place.owePurge();
      await log.forgetClaims();
      const { all } = await survey();
      await remove(
        all.filter(({ event }) => event.time <= until),
        'purged',
      );
      await log.forgetCounted(until);
      await log.place.retry();
    },
  };
};

export type Upkeep = ReturnType<typeof createUpkeep>;
