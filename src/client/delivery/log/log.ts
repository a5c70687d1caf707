import type { ConsentRecord } from '../../consent/consent.ts';
import type { KeyRange, Store, StoreKey } from '../../platform/store.ts';
import type { DeliveryContext } from '../delivery.ts';
import { SCHEMA_VERSION } from '../limits.ts';
import { createLogCache } from './log-cache.ts';
import { createLogStore, isQuotaError } from './log-store.ts';
import {
  CLAIM_RANGE,
  type Claim,
  DEDUP_RANGE,
  type DeadRecord,
  type DedupRecord,
  dedupKey,
  type EventKey,
  formatKey,
  isClaim,
  isCorrupt,
  isEventKey,
  isLogStateKey,
  isNewer,
  LOG_STATE_KEY,
  type LogEvent,
  type LogState,
  newerVersionError,
  type QueuedEvent,
  readEvent,
  STATE_AND_CLAIMS_RANGE,
  type Writes,
} from './records.ts';

/** Maximum number of records in a read, so that no read blocks the page. */
const PAGE_SIZE = 200;

/** Reads a range of array keys page by page, in key order. */
export async function* pages<T>(
  store: Pick<Store, 'entries'>,
  range: KeyRange,
): AsyncGenerator<[StoreKey, T][]> {
  for (let { from } = range; ; ) {
    const records = await store.entries<T>({ ...range, from, limit: PAGE_SIZE });
    yield records;
    if (records.length < PAGE_SIZE) return;
    // The next key after the last one.
    from = [...[records.at(-1)![0]].flat(), 0];
  }
}

/** Event, with the rejection reason if it is a dead letter. `event` is `undefined` if the record is damaged. */
export type LogRecord =
  | { key: EventKey; event: LogEvent; reason: string }
  | { key: StoreKey; event: undefined };

export interface NewLogEvent extends QueuedEvent {
  /** Deduplication name. The event is stored only if no event was stored under this name before, in any tab. */
  dedupName: string | undefined;
}

interface LogSnapshot {
  state: LogState;
  claims: Claim[];
  /** Keys of unusable records, except those of a newer version. */
  corrupt: StoreKey[];
  records: Writes;
}

/**
 * Creates the log of unconfirmed events, in IndexedDB or memory. Any page appends without reading anything except the
 * deduplication mark, and removes events that must not stay. Each change of the log state or a claim is a step: one
 * transaction that reads and writes the log state, the claims and the other records that it needs.
 */
export const createLog = (context: DeliveryContext) => {
  const { logName, consent, openStore } = context;
  const cache = createLogCache(context);
  const store = createLogStore(context, openStore(logName), cache);

  /**
   * Runs a step. `change` gets the log state, the values of `keys`, and all claims. It may change the log state, and
   * returns the other writes; `null` writes nothing. It runs again after a lost database connection.
   */
  const transact = async (
    keys: StoreKey[],
    change: (state: LogState, values: unknown[], claims: Claim[]) => Writes | null,
  ): Promise<void> => {
    let after: LogState | undefined;
    let claims: Claim[] = [];
    let written: Writes = [];
    let isNewerVersion = false;
    const write = ([stored, found, ...values]: unknown[]): Writes => {
      after = undefined;
      isNewerVersion = isNewer(stored);
      cache.detectWipe(stored);
      if (isNewerVersion || consent.is('wiped')) return [];
      const state = cache.read(stored);
      claims = [found].flat().filter(isClaim);
      const writes = change(state, values, claims);
      // Caches the record only if one exists or is written: a default record would replace the user's choice.
      if (stored !== undefined || writes !== null) after = state;
      written = writes ?? [];
      if (writes === null) return [];
      cache.holdUnwritten();
      return [[LOG_STATE_KEY, state], ...writes];
    };
    await store.update<unknown>([LOG_STATE_KEY, CLAIM_RANGE, ...keys], write).catch((error) => {
      if (isQuotaError(error)) cache.holdUnwritten(after);
      throw error;
    });
    if (isNewerVersion) {
      store.switchToMemory(newerVersionError());
      return transact(keys, change);
    }
    if (after !== undefined) cache.set(after, claims);
    cache.publishRemoved(written.filter(([, value]) => value === undefined).map(([key]) => key));
  };

  /** Returns the log state, the claims and the other records of the range, from one read. */
  const snapshot = async (range = STATE_AND_CLAIMS_RANGE): Promise<LogSnapshot> => {
    const records = await store.entries<unknown>(range);
    const claims = records.map(([, record]) => record).filter(isClaim);
    const state = cache.set(records.find(([key]) => isLogStateKey(key))?.[1], claims);
    return { state, claims, corrupt: records.filter(isCorrupt).map(([key]) => key), records };
  };

  return {
    transact,
    state: async (): Promise<LogState> => (await snapshot()).state,

    /** Writes records without a read. Resolves once they are durable. */
    write: (records: Writes): Promise<void> => store.setMany(records),

    /** Appends an event with a deduplication name. Returns `false` if one was stored under this name before, in any tab. */
    async writeOnce({ key, event }: QueuedEvent, name: string): Promise<boolean> {
      const own: DedupRecord = { v: SCHEMA_VERSION, event: formatKey(key), at: event.time };
      let isFirst = false;
      await store.update<DedupRecord | null>([dedupKey(name)], ([found]) => {
        // After a lost database connection the mark may already name this event. A damaged mark is ignored.
        isFirst = (found?.event ?? own.event) === own.event;
        return isFirst
          ? [
              [dedupKey(name), own],
              [key, event],
            ]
          : [];
      });
      return isFirst;
    },

    /** Removes events that were just appended and must not stay, or delivered events that a full disk cannot count. */
    async remove(
      entries: (Pick<NewLogEvent, 'key'> & Partial<Pick<NewLogEvent, 'dedupName'>>)[],
    ): Promise<void> {
      const keys = entries.flatMap(({ key, dedupName }) =>
        dedupName === undefined ? [key] : [key, dedupKey(dedupName)],
      );
      await store.deleteMany(keys);
      cache.publishRemoved(keys);
    },

    snapshot,

    /**
     * Stores a choice of this page. Returns `true` once it is durable; `false` if the user made a later choice in another tab,
     * which this page then follows.
     */
    async storeConsent(choice: ConsentRecord): Promise<boolean> {
      let isStored = false;
      await transact([], (state) => {
        isStored = !consent.isSuperseded(choice, state);
        if (!isStored) return null;
        Object.assign(state, choice);
        return [];
      });
      return isStored;
    },

    /** Reads the events, dead letters and damaged records of a range in key order. */
    async *read(range: KeyRange): AsyncGenerator<LogRecord> {
      for await (const records of pages<LogEvent & DeadRecord>(store, range)) {
        for (const [key, record] of records) {
          if (isNewer(record)) continue;
          const event = readEvent(record?.event ?? record);
          yield isEventKey(key) && event ? { key, event, reason: record.reason } : { key, event: undefined };
        }
      }
    },

    /** Reads the keys of damaged deduplication marks, and of marks from before this time. */
    async *oldDedupMarks(time: number): AsyncGenerator<StoreKey> {
      for await (const records of pages<DedupRecord | null>(store, DEDUP_RANGE)) {
        for (const [key, mark] of records) if (!isNewer(mark) && !(Number(mark?.at) >= time)) yield key;
      }
    },

    cache,
    store,
    close(): void {
      cache.stop();
      store.close();
    },
  };
};

export type Log = ReturnType<typeof createLog>;
