import type { BannerEvent } from '../../banner-event.ts';
import type { Consent } from '../../consent.ts';
import type { Clock } from '../../platform/clock.ts';
import { createFallbackStore } from '../../platform/fallback-store.ts';
import { pages } from '../../platform/pages.ts';
import type { KeyRange, Store, StoreKey } from '../../platform/store.ts';
import { adoptMemory } from './adopt-memory.ts';
import { CONTROL_KEY, type Control, newControl, readControl } from './control.ts';
import {
  type Batch,
  bannerEvent,
  CONTROL_RANGE,
  type CountedRecord,
  countedKey,
  EVENT_RANGE,
  isBatch,
  isCorrupt,
  isNewer,
  type Kept,
  keyText,
  readEvent,
  VERSION,
  type Writes,
} from './records.ts';

/** An event to append. */
export interface Entry extends Kept {
  /** Stored only where no event was stored under this name before, in any tab. */
  once: string | undefined;
}

export interface LogOptions {
  disk: Store;
  clock: Clock;
  consent: Consent;
  /** Called with the choice of each control record that is read. */
  onStored: (control: Control) => void;
  /** Memory mode begins (with the reason) or ends. */
  onMode: (memory: boolean, reason?: unknown) => void;
}

/**
 * The events that are not confirmed yet, in IndexedDB, or in memory where it fails. Any page appends, without a look at
 * anything. All else is a step: one transaction that reads the control record and what it needs, and writes both.
 */
export const createLog = ({ disk, clock, consent, onStored, onMode }: LogOptions) => {
  let known: Control | undefined;
  let isPurgeOwed = false;

  const note = (record: unknown): Control => {
    known = readControl(record, consent.choice());
    if (record !== undefined) onStored(known);
    return known;
  };

  const store = createFallbackStore({
    primary: disk,
    clock,
    async probe() {
      const record = await disk.get(CONTROL_KEY);
      if (!isNewer(record)) {
        if (!store.isMemory()) note(record);
        return;
      }
      // An opt-out holds in every version.
      onStored(readControl(record, consent.choice()));
      throw new Error('a newer version keeps its events here');
    },
    async adopt(records) {
      // Another tab has wiped the disk while this one was about to come back to it.
      if (consent.isWiped()) return;
      await adoptMemory(records, disk, { isPurgeOwed, mayStore: consent.mayStore() });
      isPurgeOwed = false;
    },
    onMode(on, reason) {
      known = undefined;
      onMode(on, reason);
    },
  });

  /**
   * `decide` returns what to write beside the control record, which it may change; `null` writes nothing at all. It runs
   * again after a lost connection.
   */
  const step = async (
    keys: StoreKey[],
    decide: (control: Control, values: unknown[]) => Writes | null,
  ): Promise<void> => {
    let after: Control | undefined;
    await store.update<unknown>([CONTROL_KEY, ...keys], ([stored, ...values]) => {
      after = undefined;
      if (consent.isWiped()) return [];
      const control = readControl(stored, consent.choice());
      const writes = decide(control, values);
      // A record that was neither read nor written says nothing, least of all that the user agrees.
      if (stored !== undefined || writes !== null) after = control;
      if (writes === null) return [];
      control.revision += 1;
      return [[CONTROL_KEY, control], ...writes];
    });
    if (after !== undefined) note(after);
  };

  return {
    step,
    /** The control record as this page saw it last. */
    known: (): Control => known ?? newControl(consent.choice()),
    isKnown: (): boolean => known !== undefined,
    read: async (): Promise<Control> => note(await store.get(CONTROL_KEY)),

    /** Durable when it resolves, with the events that were stored. One write that reads nothing, but for names. */
    async append(entries: Entry[]): Promise<Kept[]> {
      const names = entries.flatMap(({ once }) => once ?? []);
      let fresh = entries;
      const writes = (): Writes =>
        fresh.flatMap(({ key, event, once }): Writes => {
          const counted: CountedRecord = { v: VERSION, event: keyText(key), at: event.time };
          return [[key, event], ...(once === undefined ? [] : ([[countedKey(once), counted]] as Writes))];
        });
      if (names.length === 0) await store.setMany(writes());
      else {
        await store.update<CountedRecord>(names.map(countedKey), (found) => {
          // By name, the event that has it: after a lost connection it may be one of these already.
          const owners = new Map(found.flatMap((counted, i) => (counted ? [[names[i], counted.event]] : [])));
          fresh = entries.filter(({ key, once }) => {
            if (once === undefined) return true;
            if (!owners.has(once)) owners.set(once, keyText(key));
            return owners.get(once) === keyText(key);
          });
          return writes();
        });
      }
      return fresh;
    },

    /** Takes back what was appended. */
    remove: (entries: Entry[]): Promise<void> =>
      store.deleteMany(
        entries.flatMap(({ key, once }) => (once === undefined ? [key] : [key, countedKey(once)])),
      ),

    /** The control record and the open batches, of one moment. */
    async overview(): Promise<{ control: Control; batches: Batch[]; corrupt: StoreKey[] }> {
      const records = await store.entries<unknown>(CONTROL_RANGE);
      const control = records.find(([key]) => String(key) === String(CONTROL_KEY))?.[1];
      return {
        control: note(control),
        batches: records.flatMap((record) => (isBatch(record[1]) && !isCorrupt(record) ? [record[1]] : [])),
        corrupt: records.filter(isCorrupt).map(([key]) => key),
      };
    },

    /** What a user has dismissed, until the service has confirmed it. */
    async dismissals(userId: string): Promise<BannerEvent[]> {
      const found: BannerEvent[] = [];
      for await (const records of pages<unknown>(store, EVENT_RANGE)) {
        for (const [, record] of records) {
          const event = readEvent(record);
          if (event?.type === 'dismiss' && event.userId === userId) found.push(bannerEvent(event));
        }
      }
      return found;
    },

    pages: <T = unknown>(range: KeyRange) => pages<T>(store, range),
    /** Writes without a look at anything. */
    write: (records: Writes): Promise<void> => store.setMany(records),
    clear: () => store.clear(),

    isMemory: store.isMemory,
    /** Tries the disk again, where the log is in memory. */
    retry: store.retry,
    /** Goes on in memory. */
    degrade: store.degrade,
    forgetMemory: store.forgetMemory,
    /** The user opted out and wants everything forgotten: also what lies on a disk that does not answer now. */
    owePurge() {
      isPurgeOwed = store.isMemory();
    },
    close: store.close,
  };
};

export type Log = ReturnType<typeof createLog>;
