import type { BannerEvent } from '../banner-event.ts';
import type { CapturedEvent } from './delivery.ts';
import type { Jottings } from './jottings.ts';
import type { Ledger } from './ledger.ts';
import type { MakingRoom } from './making-room.ts';
import { countedKeys, recordEvents, type Slice } from './record-events.ts';
import { bannerEvent, isWhole, type Kept } from './records.ts';

/** Events in one transaction: some milliseconds of work, so that a burst never blocks the page. */
const SLICE = 200;

/** What was stored of each event, in their order; nothing of one that was counted before. */
type Decided = (Kept | undefined)[];

interface Waiting {
  event: CapturedEvent;
  /** By the device's clock. */
  at: number;
  resolve: (event: BannerEvent | null) => void;
}

export interface CaptureOptions {
  ledger: Ledger;
  jottings: Jottings;
  tab: string;
  appId: string;
  appVersion: string;
  /** The device's clock, which `at` was read from, and the one that keeps order. */
  now: () => number;
  eventNow: () => number;
  /** Whether events are taken at all; what was taken before is still stored. */
  isOpen: () => boolean;
  isMemory: () => boolean;
  /** Whether this tab may store; the transaction asks the stored consent as well. */
  mayStore: () => boolean;
  /** Called with what was stored, before the promises resolve. */
  onStored: (kept: Kept[]) => void;
  makingRoom: MakingRoom;
  /** An event that nobody could store or send. */
  onRefused: () => void;
  onFailed: (error: unknown) => void;
}

/**
 * Stores events in the order of the calls. Calls of one task are written together; a call itself only puts the event
 * in line.
 */
export const createCapture = ({
  ledger,
  jottings,
  tab,
  appId,
  appVersion,
  now,
  eventNow,
  isOpen,
  isMemory,
  mayStore,
  onStored,
  makingRoom,
  onRefused,
  onFailed,
}: CaptureOptions) => {
  let line: Waiting[] = [];
  let draining = false;
  let slices = 0;

  const write = (slice: Slice, jotted: ReturnType<Jottings['put']>): Promise<Decided | undefined> => {
    let decided: Decided = [];
    const counted = countedKeys(slice);
    return ledger.step(
      jotted ? [...counted, jotted.key] : counted,
      (meta, values) => {
        // A lost connection asks twice, and the first time may have been committed after all.
        if (meta.slices.includes(slice.id)) return { writes: [], result: decided };
        if (meta.consent !== 'enabled' || !mayStore()) return null;
        // This page was away so long that another one has stored them.
        if (jotted?.wasThere() && values.at(-1) === undefined) return null;
        const { kept, writes } = recordEvents(meta, slice, values[0]);
        decided = kept;
        return { writes: jotted ? [...writes, [jotted.key, undefined]] : writes, result: decided };
      },
      { create: true },
    );
  };

  const store = async (waiting: Waiting[]): Promise<void> => {
    slices += 1;
    const device = now();
    const ordered = eventNow();
    // An age is true on either clock, a time is not: the device's may have been set back meanwhile.
    const events = waiting.map(({ event, at }) => ({
      event,
      at: Math.floor(ordered - Math.max(0, device - at)),
    }));
    const slice: Slice = { id: `${tab}:${slices}`, appId, appVersion, events };
    // A wipe or an opt-out in the same task was before this.
    const jotted = mayStore() ? jottings.put(slice) : undefined;
    try {
      const kept = await makingRoom(() => write(slice, jotted));
      if (kept === undefined || isMemory()) void jotted?.remove();
      if (kept !== undefined) onStored(kept.filter((item) => item !== undefined));
      waiting.forEach(({ resolve }, i) => {
        const event = kept?.[i]?.event;
        resolve(event === undefined ? null : bannerEvent(event));
      });
    } catch (cause) {
      // Nothing is stored, as the calls now hear; left there, the next page would send it.
      void jotted?.remove();
      onFailed(cause);
      for (const { resolve } of waiting) resolve(null);
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
    // In line it would take the others of its slice with it.
    if (!isWhole(event)) {
      onRefused();
      return Promise.resolve(null);
    }
    return new Promise((resolve) => {
      line.push({ event, at: event.at ?? now(), resolve });
      if (draining) return;
      draining = true;
      // After this task's calls; `queueMicrotask` leaves the script engine and costs more than all the rest here.
      void Promise.resolve().then(drain);
    });
  };
};
