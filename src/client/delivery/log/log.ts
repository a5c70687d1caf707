import type { Choice } from '../../first/consent.ts';
import { createFallbackStore } from '../../platform/fallback-store.ts';
import { pages } from '../../platform/pages.ts';
import type { KeyRange, Store, StoreKey } from '../../platform/store.ts';
import type { DeliveryContext } from '../context.ts';
import { adoptMemory } from './adopt-memory.ts';
import {
  type Batch,
  CONTROL_KEY,
  CONTROL_RANGE,
  COUNTED_RANGE,
  type Control,
  type CountedRecord,
  countedKey,
  type DeadRecord,
  type EventKey,
  isBatch,
  isCorrupt,
  isEventKey,
  isNewer,
  keyText,
  newControl,
  type QueuedEvent,
  readControl,
  readEvent,
  type StoredEvent,
  VERSION,
  type Writes,
} from './records.ts';

/** A record under the key of an event. */
export interface LogRecord {
  key: EventKey;
  /** `undefined` where it cannot be read. */
  event: StoredEvent | undefined;
  /** Of a dead letter. */
  reason: string;
}

/** An event to append. */
export interface Entry extends QueuedEvent {
  /** Stored only where no event was stored under this name before, in any tab. */
  once: string | undefined;
}

interface LogListener {
  /** A control record was read. */
  onRead?: (control: Control) => void;
  /** Memory mode is over. */
  onDisk?: () => void;
}

const undecided = () => new Error('the user has not decided yet');
/** The control record of a newer version is never changed, so the log goes on in memory. */
const newerVersion = () => new Error('a newer version keeps its events here');

/**
 * The events that are not confirmed yet, in IndexedDB, or in memory where it fails. Any page appends, without a look at
 * anything. All else is a step: one transaction that reads the control record and what it needs, and writes both.
 */
export const createLog = (context: DeliveryContext, disk: Store) => {
  const { consent, clock, notify, fail } = context;
  /** What a new control record begins with. */
  const choice = (): Choice => {
    if (consent.state === 'pending') return 'enabled';
    return consent.state === 'wiped' ? 'disabled' : consent.state;
  };
  const listeners: LogListener[] = [];
  let lastControl: Control | undefined;
  let isPurgeOwed = false;

  const announce = (control: Control): void => {
    for (const { onRead } of listeners) onRead?.(control);
  };
  const remember = (record: unknown): Control => {
    lastControl = readControl(record, choice());
    if (record !== undefined) announce(lastControl);
    return lastControl;
  };

  const store = createFallbackStore({
    primary: disk,
    clock,
    async probe() {
      // The disk is left alone until then.
      if (consent.state === 'pending') throw undecided();
      const record = await disk.get(CONTROL_KEY);
      if (!isNewer(record)) {
        if (!store.isMemory()) remember(record);
        return;
      }
      // An opt-out holds in every version.
      announce(readControl(record, choice()));
      throw newerVersion();
    },
    async adopt(records) {
      await adoptMemory(records, disk, { isPurgeOwed, consent });
      isPurgeOwed = false;
    },
    onMode(on, cause) {
      lastControl = undefined;
      const reason = on ? { reason: (cause as Error | null)?.message ?? String(cause) } : {};
      notify({ type: 'memory-mode', on, ...reason });
      if (!on) for (const { onDisk } of listeners) onDisk?.();
    },
  });
  // What waits in memory goes to the disk with the next write there, or is forgotten.
  consent.subscribe((before) => {
    if (before === 'pending' && !consent.mayAct()) store.forgetMemory();
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
    let isNewerVersion = false;
    await store.update<unknown>([CONTROL_KEY, ...keys], ([stored, ...values]) => {
      after = undefined;
      isNewerVersion = isNewer(stored);
      if (isNewerVersion || consent.state === 'wiped') return [];
      const control = readControl(stored, choice());
      const writes = decide(control, values);
      // Without a record the default is not consent.
      if (stored !== undefined || writes !== null) after = control;
      if (writes === null) return [];
      control.revision += 1;
      return [[CONTROL_KEY, control], ...writes];
    });
    if (isNewerVersion) {
      store.degrade(newerVersion());
      return step(keys, decide);
    }
    if (after !== undefined) remember(after);
  };

  return {
    subscribe: (listener: LogListener): void => void listeners.push(listener),
    step,
    /** The control record as this page saw it last. */
    lastControl: (): Control => lastControl ?? newControl(choice()),
    /** A decision on an older revision is made again. */
    bumpRevision: (): Promise<void> => step([], () => []),
    control: async (): Promise<Control> => remember(await store.get(CONTROL_KEY)),

    /** Durable when it resolves. One write that reads nothing. */
    write: (records: Writes): Promise<void> => store.setMany(records),

    /** Appends an event that counts once; false where one was stored under this name before, in any tab. */
    async writeOnce({ key, event }: QueuedEvent, name: string): Promise<boolean> {
      const own: CountedRecord = { v: VERSION, event: keyText(key), at: event.time };
      let isFirst = false;
      await store.update<CountedRecord | null>([countedKey(name)], ([found]) => {
        // After a lost connection the mark may be of this event already. A damaged mark names no event.
        isFirst = (found?.event ?? own.event) === own.event;
        return isFirst
          ? [
              [countedKey(name), own],
              [key, event],
            ]
          : [];
      });
      return isFirst;
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
        control: remember(control),
        batches: records.flatMap((record) => (isBatch(record[1]) && !isCorrupt(record) ? [record[1]] : [])),
        corrupt: records.filter(isCorrupt).map(([key]) => key),
      };
    },

    /** The records of a range in key order: events, dead letters, or what cannot be read as one. */
    async *read(range: KeyRange): AsyncGenerator<LogRecord> {
      for await (const records of pages<StoredEvent & DeadRecord>(store, range)) {
        for (const [key, record] of records) {
          if (isNewer(record)) continue;
          const event = isEventKey(key) ? readEvent(record?.event ?? record) : undefined;
          yield { key: key as EventKey, event, reason: record?.reason };
        }
      }
    },

    /** Removes records that cannot be used. An event counts as evicted; the events of a batch go on without it. */
    async removeCorrupt(keys: StoreKey[]): Promise<void> {
      let corrupt: Writes = [];
      await step(keys, (control, records) => {
        corrupt = keys.map((key, i): Writes[0] => [key, records[i]]).filter(isCorrupt);
        const events = corrupt.filter(([key]) => (key as string[])[0] === 'event').length;
        control.evicted += events;
        // The events of a batch may have been sent, so they keep their times.
        if (corrupt.length > events) control.batched = [];
        return corrupt.map(([key]) => [key, undefined]);
      });
      fail('storage', `${corrupt.length} stored records cannot be read, and were removed`, corrupt);
    },

    /** Forgets which events counted once before this time, and what cannot be read. */
    async forgetCounted(time: number): Promise<void> {
      for await (const records of pages<CountedRecord | null>(store, COUNTED_RANGE)) {
        const old = records.filter(([, counted]) => !(Number(counted?.at) >= time));
        if (old.length > 0) await store.deleteMany(old.map(([key]) => key));
      }
    },

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
