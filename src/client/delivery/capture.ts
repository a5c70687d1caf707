import type { BannerEvent } from '../banner-event.ts';
import type { CapturedEvent } from './delivery.ts';
import { stamp } from './event-time.ts';
import type { Ledger } from './ledger.ts';
import { bannerEvent, bytesOf, type Kept, type StoredEvent, VERSION } from './records.ts';

/** Events in one transaction: some milliseconds of work, so that a burst never blocks the page. */
const SLICE = 100;
/** How many stored slices the meta record remembers. */
const REMEMBERED_SLICES = 16;

interface Waiting {
  event: CapturedEvent;
  at: number;
  resolve: (event: BannerEvent | null) => void;
}

export interface CaptureOptions {
  ledger: Ledger;
  tab: string;
  appId: string;
  appVersion: string;
  /** The device's clock, which `at` was read from, and the one that keeps order. */
  now: () => number;
  eventNow: () => number;
  /** Whether events are taken at all; what was taken before is still stored. */
  isOpen: () => boolean;
  /** Whether this tab may store; the transaction asks the stored consent as well. */
  mayStore: () => boolean;
  /** Called with what was stored, before the promises resolve. */
  onStored: (kept: Kept[]) => void;
  /** The disk is full: makes room, or goes on in memory. */
  onFull: () => Promise<void>;
  onFailed: (error: unknown) => void;
}

/**
 * Stores events in the order of the calls. Calls of one task are written together; a call itself only puts the event
 * in line.
 */
export const createCapture = ({
  ledger,
  tab,
  appId,
  appVersion,
  now,
  eventNow,
  isOpen,
  mayStore,
  onStored,
  onFull,
  onFailed,
}: CaptureOptions) => {
  let line: Waiting[] = [];
  let draining = false;
  let slices = 0;

  const write = async (waiting: Waiting[]): Promise<Kept[] | undefined> => {
    slices += 1;
    const slice = `${tab}:${slices}`;
    let decided: Kept[] = [];
    return ledger.step(
      [],
      (meta) => {
        // A lost connection asks twice, and the first time may have been committed after all.
        if (meta.slices.includes(slice)) return { writes: [], result: decided };
        if (meta.consent !== 'enabled' || !mayStore()) return null;
        meta.slices = [...meta.slices.slice(1 - REMEMBERED_SLICES), slice];
        decided = waiting.map(({ event: { type, bannerId, placementId, userId }, at }) => {
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
        });
        meta.captured += decided.length;
        meta.events += decided.length;
        return { writes: decided.map(({ key, event }) => [key, event]), result: decided };
      },
      { create: true },
    );
  };

  const store = async (waiting: Waiting[]): Promise<void> => {
    for (;;) {
      try {
        const kept = await write(waiting);
        if (kept !== undefined) onStored(kept);
        waiting.forEach(({ resolve }, i) => {
          const event = kept?.[i]?.event;
          resolve(event === undefined ? null : bannerEvent(event));
        });
        return;
      } catch (error) {
        try {
          // Only a full disk comes here: for everything else the store has gone on in memory already.
          if ((error as Error).name !== 'QuotaExceededError') throw error;
          await onFull();
        } catch (cause) {
          onFailed(cause);
          for (const { resolve } of waiting) resolve(null);
          return;
        }
      }
    }
  };

  const drain = async (): Promise<void> => {
    while (line.length > 0) {
      const all = line;
      line = [];
      for (let from = 0; from < all.length; from += SLICE) await store(all.slice(from, from + SLICE));
    }
    draining = false;
  };

  return (event: CapturedEvent): Promise<BannerEvent | null> => {
    if (!isOpen() || !mayStore()) return Promise.resolve(null);
    // An age is true on either clock, a time is not: the device's may have been set back meanwhile.
    const age = event.at === undefined ? 0 : Math.max(0, now() - event.at);
    const at = Math.floor(eventNow() - age);
    return new Promise((resolve) => {
      line.push({ event, at, resolve });
      if (draining) return;
      draining = true;
      queueMicrotask(drain);
    });
  };
};
