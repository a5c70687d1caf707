import type { BannerEvent } from '../../banner.ts';
import type { ConsentRecord } from '../../permission.ts';
import { isPaused, noPause, type Pause } from '../../platform/pauses.ts';
import type { KeyRange, Store, StoreKey } from '../../platform/store.ts';
import type { DeliveryContext } from '../delivery.ts';
import {
  CAP_CHECK_INTERVAL_MS,
  CAP_TOLERANCE,
  MAX_TRANSACTION_RECORDS,
  MIN_DEDUP_MS,
  SCHEMA_VERSION,
} from '../limits.ts';
import { createLogStore, isQuotaError } from './log-store.ts';
import {
  bannerEvent,
  CLAIM_RANGE,
  type Claim,
  type Claimed,
  claimKey,
  DEDUP_RANGE,
  type DeadRecord,
  type DedupRecord,
  dedupKey,
  EVENT_RANGE,
  type EventKey,
  estimateBytes,
  formatKey,
  isClaim,
  isCorrupt,
  isEventKey,
  isExclusive,
  isLogStateKey,
  isNewer,
  isSameGroup,
  LOG_STATE_KEY,
  type LogEvent,
  type LogState,
  newerVersionError,
  newId,
  type QueuedEvent,
  readEvent,
  readLogState,
  STATE_AND_CLAIMS_RANGE,
  toRange,
  type Writes,
} from './records.ts';

/** Reads a range of array keys page by page, in key order. */
export async function* pages<T>(
  store: Pick<Store, 'entries'>,
  range: KeyRange,
): AsyncGenerator<[StoreKey, T][]> {
  for (let { from } = range; ; ) {
    const records = await store.entries<T>({ ...range, from, limit: MAX_TRANSACTION_RECORDS });
    yield records;
    if (records.length < MAX_TRANSACTION_RECORDS) return;
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

/** Maximum number of cached events; more than an exit flush can send. The next page that reads the log sends older events. */
const MAX_EVENTS = 1_600;

/**
 * Creates the copy of the log in memory: the log state, the claims, and the captured events that no request holds. Exit
 * handlers read it, because they cannot wait for the disk. It may contain events that are gone; the service deduplicates them.
 */
export const createLogCache = ({
  permission,
  lifecycle,
  channel,
}: Pick<DeliveryContext, 'permission' | 'lifecycle' | 'channel'>) => {
  let last: LogState | undefined;
  let claims: Claim[] = [];
  const unsent = new Map<string, QueuedEvent>();
  /** Log state that a full disk did not take. Its pause applies to this page. */
  let unwrittenState: LogState | undefined;
  /** Whether the last read found the log state. */
  let hadRecord = false;
  /** Set from the return from the back/forward cache until the next read, because another page may have wiped the record. */
  let mayBeWiped = false;

  /** Reads a record. Without a stored choice, this page's choice applies. */
  const read = (record: unknown): LogState => {
    const state = readLogState(record, permission.record().consent);
    if (unwrittenState && unwrittenState.pause.until > state.pause.until) {
      state.pause = unwrittenState.pause;
      state.rejectedKeyFingerprint = unwrittenState.rejectedKeyFingerprint;
    }
    return state;
  };
  /** Follows a wipe by another page if the record is missing after the return. */
  const detectWipe = (record: unknown): void => {
    if (mayBeWiped && record === undefined)
      void permission.merge({ ...permission.record(), consent: 'wiped' });
    mayBeWiped = false;
  };
  const dropUnsent = (keys: string[]): void => {
    for (const key of keys) unsent.delete(key);
  };

  const stop = lifecycle.on('restored', () => {
    mayBeWiped = hadRecord;
    // Other tabs may have sent these events in the meantime.
    unsent.clear();
  });
  channel.subscribe((item) => {
    if (item.type === 'events-removed') dropUnsent(item.keys);
    if (item.type !== 'request-settled') return;
    // No page sends before the time that the server requested from another page.
    last = { ...(last ?? read(undefined)), pause: item.pause };
    claims = [];
  });

  return {
    read,
    detectWipe,
    state: (): LogState => read(last),
    claims: () => claims,
    /** Caches the log state that was read or written, and its claims. Applies its choice to this page. */
    set(record: unknown, found = claims): LogState {
      detectWipe(record);
      claims = found;
      last = read(record);
      hadRecord = record !== undefined;
      if (hadRecord) void permission.merge(last);
      return last;
    },
    /** Holds the pause of a record that a full disk rejected, until a step is written. */
    holdUnwritten(state?: LogState): void {
      unwrittenState = state;
    },
    /** Clears the log state and the claims, because the log has moved or was emptied. */
    clear(): void {
      last = undefined;
      claims = [];
      hadRecord = false;
      mayBeWiped = false;
    },
    unsent: (): QueuedEvent[] => [...unsent.values()],
    addUnsent(stored: QueuedEvent[]): void {
      for (const item of stored) unsent.set(formatKey(item.key), item);
      for (const oldest of unsent.keys()) {
        if (unsent.size <= MAX_EVENTS) break;
        unsent.delete(oldest);
      }
    },
    /** Removes events that a request holds now. */
    removeUnsent: (batch: QueuedEvent[]): void => dropUnsent(batch.map(({ key }) => formatKey(key))),
    clearUnsent: (): void => unsent.clear(),
    /** Removes events that left the log, here and in the other tabs. */
    publishRemoved(keys: StoreKey[]): void {
      const gone = keys.filter(isEventKey).map(formatKey);
      dropUnsent(gone);
      if (gone.length > 0) channel.post({ type: 'events-removed', keys: gone });
    },
    stop,
  };
};

/** Reason that this page may not send. */
export type Block =
  /** No consent, or the page is stopped or prerendered. */
  | { type: 'disabled' }
  /** Pause of all tabs. */
  | { type: 'paused'; pause: Pause }
  /** Another page sends. `until` is in Unix milliseconds. */
  | { type: 'locked'; until: number };

/** Added to the request timeout. After the total, no response can arrive anymore. */
const RESPONSE_MARGIN_MS = 5_000;
/** Duration of the exclusive lease to send. After it, the page may be gone, and other pages may send the remaining events. */
const LEASE_MS = 10_000;

/**
 * Creates the log of unconfirmed events, in IndexedDB or memory. Any page appends without reading anything except the
 * deduplication mark, and removes events that must not stay. Each change of the log state or a claim is a step: one
 * transaction that reads and writes the log state, the claims and the other records that it needs. Exceptions: the exit flush
 * writes its claims without a read; the return from memory mode and `decide.ts` read no claims.
 */
export const createLog = (context: DeliveryContext) => {
  const { logName, clock, permission, options, openStore, random, trouble } = context;
  const { maxEvents, maxBytes, maxAgeMs } = options;
  const { now, monotonic } = clock;
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
      if (isNewerVersion || permission.is('wiped')) return [];
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

  const readState = async (): Promise<LogState> => (await snapshot()).state;

  /** Reads the events, dead letters and damaged records of a range in key order. */
  async function* read(range: KeyRange): AsyncGenerator<LogRecord> {
    for await (const records of pages<LogEvent & DeadRecord>(store, range)) {
      for (const [key, record] of records) {
        if (isNewer(record)) continue;
        const event = readEvent(record?.event ?? record);
        yield isEventKey(key) && event ? { key, event, reason: record.reason } : { key, event: undefined };
      }
    }
  }

  /** Reads the keys of damaged deduplication marks, and of marks from before this time. */
  async function* oldDedupMarks(time: number): AsyncGenerator<StoreKey> {
    for await (const records of pages<DedupRecord | null>(store, DEDUP_RANGE)) {
      for (const [key, mark] of records) if (!isNewer(mark) && !(Number(mark?.at) >= time)) yield key;
    }
  }

  /** Events and bytes appended since the last check of the caps. */
  let appendedEvents = 0;
  let appendedBytes = 0;
  let checkedAt = Number.NEGATIVE_INFINITY;
  const caps = {
    /** Lowered if the browser grants less space than the host's cap, as in private mode. */
    bytes: maxBytes,
  };
  const isOverTolerance = (): boolean =>
    appendedEvents > maxEvents * CAP_TOLERANCE || appendedBytes > caps.bytes * CAP_TOLERANCE;

  /** Returns whether one short read shows that no record is expired, damaged or over a cap. */
  const isWithinCaps = async (): Promise<boolean> => {
    const { expiredFoundAt, scannedEvents } = await readState();
    if (expiredFoundAt > 0 || scannedEvents > 0) return false;
    const limit = Math.min(MAX_TRANSACTION_RECORDS, maxEvents) + 1;
    let size = 0;
    let found = 0;
    for await (const { event } of read(EVENT_RANGE)) {
      if (!event || event.time < now() - maxAgeMs || ++found === limit) return false;
      size += estimateBytes(event);
    }
    if (size > caps.bytes || (await store.entries({ ...toRange('dead'), limit: 1 }))[0]) return false;
    return (await oldDedupMarks(now() - Math.max(maxAgeMs, MIN_DEDUP_MS)).next()).done === true;
  };

  /**
   * Runs work that writes the events `written`, or a user decision. If the disk is full, frees space and runs it again; if that is
   * impossible, switches to memory mode.
   */
  const retryOnQuota = async <T>(work: () => Promise<T>, written?: QueuedEvent[]): Promise<T> => {
    for (let failures = 1; ; failures += 1) {
      try {
        return await work();
      } catch (error) {
        // After any other failure the log is already in memory mode.
        if (!isQuotaError(error)) throw error;
        const isFreed = await trouble()
          .then(({ freeSpace }) => freeSpace(failures, written))
          .catch(() => false);
        if (!isFreed) store.switchToMemory(new Error('storage quota exceeded'));
      }
    }
  };

  /** Returns the reason that this page may not send now, from the log state and its claims; `null` if the page may send. */
  const findBlock = ({ pause }: LogState, claims: Claim[]): Block | null => {
    if (!permission.canSend()) return { type: 'disabled' };
    if (isPaused(pause, now())) return { type: 'paused', pause };
    const lease = claims.find((each) => isExclusive(each, now()));
    return lease ? { type: 'locked', until: Math.min(lease.deadline, lease.exclusiveUntil) } : null;
  };

  /** Creates a claim on a batch. Other pages send nothing for `leaseMs`. */
  const newClaim = (batch: QueuedEvent[], leaseMs = LEASE_MS): Claimed => ({
    claim: {
      v: SCHEMA_VERSION,
      id: newId(clock, random),
      pageId: context.pageId,
      deadline: now() + options.timeoutMs + RESPONSE_MARGIN_MS,
      exclusiveUntil: now() + leaseMs,
      keys: batch.map(({ key }) => key),
    },
    batch,
  });

  return {
    transact,
    snapshot,
    state: readState,
    read,
    oldDedupMarks,
    retryOnQuota,
    findBlock,
    newClaim,

    /** Adds appended events to the cache, and counts them for the caps. */
    addUnsent(stored: QueuedEvent[]): void {
      cache.addUnsent(stored);
      appendedEvents += stored.length;
      for (const { event } of stored) appendedBytes += estimateBytes(event);
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

    /**
     * Claims the remaining events of a batch. Returns `undefined` if another page was faster, or nothing is left. If the disk is
     * too full for a claim, the events are sent anyway, as in an exit flush, except those that may be sent only once.
     */
    async claim(batch: QueuedEvent[]): Promise<Claimed | undefined> {
      let claimed: Claimed | undefined;
      const change = (state: LogState, records: unknown[], claims: Claim[]): Writes | null => {
        // After a lost database connection this runs twice. If the first run committed, change nothing.
        if (claimed && claims.some(({ id }) => id === claimed?.claim.id)) return null;
        claimed = undefined;
        if (findBlock(state, claims)) return null;
        const others = new Set(claims.flatMap(({ keys }) => keys.map(formatKey)));
        const kept = batch.flatMap(({ key, event: before }, i): QueuedEvent[] => {
          const event = readEvent(records[i]);
          const isEligible = event && isSameGroup(options, event, before) && event.rejection === undefined;
          const isUnclaimed = isEligible && event.attempts === before.attempts && !others.has(formatKey(key));
          return isUnclaimed ? [{ key, event }] : [];
        });
        if (kept.length === 0) return null;
        claimed = newClaim(kept);
        return [[claimKey(claimed.claim.id), claimed.claim]];
      };
      try {
        await transact(
          batch.map(({ key }) => key),
          change,
        );
      } catch (error) {
        const mayRepeat = batch.every(({ event }) => options.guarantee[event.type] === 'at-least-once');
        if (!isQuotaError(error) || !mayRepeat) throw error;
        // Without a claim, only the trouble chunk prevents an immediate resend.
        await trouble();
        if (!permission.canSend()) throw error;
        claimed = { ...newClaim(batch), isUnstored: true };
      }
      return claimed;
    },

    /** Deletes a claim whose request was not sent. */
    release: ({ id: released }: Claim): Promise<void> =>
      transact([], (_state, _values, claims) =>
        claims.some(({ id }) => id === released) ? [[claimKey(released), undefined]] : null,
      ),

    /** Marks the events of a claim as delivered and returns them; `undefined` if the storage quota is exceeded. */
    async confirm(claim: Claim): Promise<BannerEvent[] | undefined> {
      let delivered: BannerEvent[] = [];
      let isDone = false;
      const change = (state: LogState, records: unknown[], claims: Claim[]): Writes | null => {
        const isClaimed = claims.some(({ id }) => id === claim.id);
        // After a lost database connection this runs twice. If the first run committed, change nothing.
        if (isDone && !isClaimed) return null;
        isDone = isClaimed;
        // Another tab may have purged some events in the meantime.
        const events = records.map(readEvent);
        delivered = events.flatMap((event) => (event ? [bannerEvent(event)] : []));
        if (!isClaimed && delivered.length === 0) return null;
        // No tab sends before the time that the server requested, regardless of the results of other requests in flight.
        if (!state.pause.isServerMandated || !isPaused(state.pause, now())) state.pause = noPause();
        state.rejectedKeyFingerprint = null;
        state.delivered += delivered.length;
        const writes = claim.keys.flatMap((key, i): Writes => (events[i] ? [[key, undefined]] : []));
        return [[claimKey(claim.id), undefined], ...writes];
      };
      try {
        await transact(claim.keys, change);
        return delivered;
      } catch (error) {
        if (isQuotaError(error)) return undefined;
        throw error;
      }
    },

    /**
     * Stores a choice of this page. Returns `true` once it is durable; `false` if the user made a later choice in another tab,
     * which this page then follows.
     */
    async storeConsent(choice: ConsentRecord): Promise<boolean> {
      let isStored = false;
      await transact([], (state) => {
        isStored = !permission.isSuperseded(choice, state);
        if (!isStored) return null;
        Object.assign(state, choice);
        return [];
      });
      return isStored;
    },

    caps,
    /** Returns whether enough was appended for `enforceCaps` to be due. */
    isCheckDue: isOverTolerance,
    /** Checks the caps (count, bytes, age) at page start, once an hour, and after many appends. The trouble chunk frees space. */
    async enforceCaps(): Promise<void> {
      const isHourlyCheckDue = monotonic() - checkedAt > CAP_CHECK_INTERVAL_MS;
      const isOver = isOverTolerance();
      if (!isHourlyCheckDue && !isOver) return;
      if (isOver || !(await isWithinCaps())) {
        const { enforceCaps } = await trouble();
        [appendedEvents, appendedBytes] = [0, 0];
        // Starts the next interval, regardless of what the check finds.
        if (isHourlyCheckDue) checkedAt = monotonic();
        await enforceCaps(isHourlyCheckDue, isOver);
      }
      if (isHourlyCheckDue) checkedAt = monotonic();
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

/** Creates the function that appends events and returns those that were stored. A service worker appends none. */
export const createAppend = ({ fail, permission }: DeliveryContext, { store, retryOnQuota }: Log) => {
  /** Writes an event with a deduplication name. Returns `false` if one was stored under this name before, in any tab. */
  const writeOnce = async ({ key, event }: QueuedEvent, name: string): Promise<boolean> => {
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
  };

  /**
   * Returns whether the entries were stored. Each write is retried separately, because events of an earlier one may
   * already have been sent.
   */
  const tryToWrite = async (entries: NewLogEvent[], write: () => Promise<unknown>): Promise<boolean> => {
    try {
      const isStored = (await retryOnQuota(write, entries)) !== false;
      // A stopped client loses the events in memory.
      return isStored && !(permission.isStopped() && store.isMemory());
    } catch (cause) {
      fail('storage', 'An event could not be stored', cause);
      return false;
    }
  };

  // Writes that need no read come first.
  return async (entries: NewLogEvent[]): Promise<NewLogEvent[]> => {
    const kept: NewLogEvent[] = [];
    const unmarked = entries.filter(({ dedupName }) => dedupName === undefined);
    const records = unmarked.map(({ key, event }): [EventKey, LogEvent] => [key, event]);
    if (records.length > 0 && (await tryToWrite(unmarked, () => store.setMany(records))))
      kept.push(...unmarked);
    for (const entry of entries) {
      const { dedupName } = entry;
      if (dedupName !== undefined && (await tryToWrite([entry], () => writeOnce(entry, dedupName))))
        kept.push(entry);
    }
    return kept;
  };
};
