import type { StoreKey } from '../platform/store.ts';
import { COUNTED_KEY, mergeCounted, readCounted } from './counted.ts';
import type { CapturedEvent } from './delivery.ts';
import { stamp } from './event-time.ts';
import { bytesOf, type Kept, type Meta, type StoredEvent, VERSION } from './records.ts';

/** How many stored slices the meta record remembers. */
const REMEMBERED_SLICES = 16;

/** Events that are stored together, in the order of their calls. */
export interface Slice {
  /** Its name, so that it is not stored again after a lost connection. */
  id: string;
  appId: string;
  appVersion: string;
  events: { event: CapturedEvent; at: number }[];
}

/** What a slice needs to be recorded, beside the meta record. */
export const countedKeys = ({ events }: Slice): StoreKey[] =>
  events.some(({ event }) => event.once !== undefined) ? [COUNTED_KEY] : [];

/**
 * Gives the events of a slice their places and their times; `undefined` for one that was counted before. Changes `meta`;
 * who calls writes what it answers.
 */
export const recordEvents = (meta: Meta, { id, appId, appVersion, events }: Slice, counted: unknown) => {
  meta.slices = [...meta.slices.slice(1 - REMEMBERED_SLICES), id];
  const names = readCounted(counted);
  const fresh = new Set<string>();
  const kept = events.map(
    ({ event: { type, bannerId, placementId, userId, once }, at }): Kept | undefined => {
      if (once !== undefined) {
        if (names.includes(once) || fresh.has(once)) return undefined;
        fresh.add(once);
      }
      meta.sequence += 1;
      const time = stamp(meta, at, `${userId}\n${bannerId}\n${type}`);
      const event: StoredEvent = {
        v: VERSION,
        type,
        bannerId,
        placementId,
        userId,
        time,
        appId,
        appVersion,
        attempts: 0,
      };
      meta.bytes += bytesOf(event);
      return { key: ['event', VERSION, time, meta.sequence], event };
    },
  );
  const stored = kept.filter((item) => item !== undefined);
  meta.captured += stored.length;
  meta.events += stored.length;
  const writes = stored.map(({ key, event }): [StoreKey, unknown] => [key, event]);
  if (fresh.size > 0) writes.push([COUNTED_KEY, mergeCounted(names, [...fresh])]);
  return { kept, writes };
};
