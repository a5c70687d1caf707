import type { StoreDecision } from '../../permission.ts';
import type { Clock } from '../../platform/clock.ts';
import type { PageLifecycle } from '../../platform/page.ts';
import { afterTimeout, withTimeout } from '../../platform/pauses.ts';
import { createMemoryStore, type KeyRange, type Store, type StoreKey } from '../../platform/store.ts';
import type { DeliveryContext, InMemory, Trouble } from '../delivery.ts';
import {
  isLogStateKey,
  isNewer,
  isOptOut,
  LOG_STATE_VERSIONS_RANGE,
  type LogState,
  newerVersionError,
  type Writes,
} from './records.ts';

/** A request that was pending on the return from the back/forward cache counts as lost after this time (Firefox). */
const LOST_MS = 1_000;
/** Timeout of a request. A slow disk or another tab may delay a transaction for a while. */
const HANG_MS = 10_000;

/**
 * Runs requests to the disk. While the page is in the back/forward cache, no request with a response begins, because a
 * transaction that reads before it writes would stay open with its lock held, and the browser evicts a page that blocks another
 * one. `setMany` is sent at once; all others wait for the page's return.
 *
 * Firefox 153 never settles a request that began as the page entered the cache. After the return, a read is repeated. A write
 * without a read counts as done, since a second one might restore what others have removed; if it fails after all, it is
 * repeated. In an active page, a request that times out rejects.
 */
export const createDisk = (store: Store, lifecycle: PageLifecycle, after: Clock['after']) => {
  let untilRestored: Promise<void> | undefined;
  let wake: () => void = () => undefined;
  /** Pending requests: maps the function that abandons the request to the function that cancels its timeout. */
  const pending = new Map<() => void, () => void>();
  const stops = [
    lifecycle.on('pagehide', () => {
      untilRestored ??= new Promise((resolve) => {
        wake = resolve;
      });
    }),
    lifecycle.on('restored', () => {
      const former = [...pending.keys()];
      after(LOST_MS, () => {
        for (const abandon of former) if (pending.delete(abandon)) abandon();
      });
      wake();
      untilRestored = undefined;
    }),
  ];

  const runTracked = <T>(work: (store: Store) => Promise<T>, ifLost?: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      const attempt = (): void => {
        let isLost = false;
        const abandon = (): void => {
          isLost = true;
          if (ifLost) resolve(ifLost());
          else attempt();
        };
        const onError = (error: unknown): void => {
          if (!isLost) reject(error);
          // The write counted as done and failed after all, so it is repeated.
          else if (ifLost) attempt();
        };
        const cancel = afterTimeout(after, HANG_MS, () => {
          if (!untilRestored && pending.delete(abandon)) reject(new Error('Timed out'));
        });
        pending.set(abandon, cancel);
        void work(store)
          .then(resolve, onError)
          .finally(() => {
            pending.delete(abandon);
            cancel();
          });
      };
      attempt();
    });

  return {
    async request<T>(work: (store: Store) => Promise<T>, ifLost?: () => T): Promise<T> {
      if (untilRestored && !ifLost) await untilRestored;
      return runTracked(work, ifLost);
    },
    close(): void {
      for (const stop of stops) stop();
      wake();
      untilRestored = undefined;
    },
  };
};

/** Timeout of `indexedDB.open`, which some engines never settle. After it, the page continues in memory. */
const OPEN_MS = 2_000;
/** Interval between retries of the disk in memory mode. */
const RETRY_MS = 30_000;

/** Returns whether the disk is full. The caller handles a full disk, because it knows which records to evict. */
export const isQuotaError = (error: unknown): boolean => Object(error).name === 'QuotaExceededError';

type LogLocation =
  /** First check of the disk, or move from memory back to the disk. Each call waits for `over`. */
  { type: 'moving'; from: InMemory | undefined; over: Promise<void> } | { type: 'disk' } | InMemory;

/**
 * Creates the store of the log: on disk, or in memory while the disk fails, hangs, belongs to a newer version, or waits for
 * consent. A failed transaction is repeated in memory. One that timed out may commit later; its events are
 * then sent twice.
 */
export const createLogStore = (
  {
    permission,
    clock,
    lifecycle,
    notify,
    trouble,
  }: Pick<DeliveryContext, 'permission' | 'clock' | 'lifecycle' | 'notify'> & {
    trouble: () => Promise<Pick<Trouble, 'restore'>>;
  },
  store: Store,
  /** Follows each read of the log state, and each change of the location. */
  cache: { set(state: unknown): void; clear(): void },
) => {
  const { after } = clock;
  const disk = createDisk(store, lifecycle, after);
  /** `undefined` before the first call: without consent the page must not create a database, not even an empty one. */
  let logLocation: LogLocation | undefined;
  /** Pending check of the disk. In memory mode no call waits for it. */
  let checking: Promise<void> | undefined;
  let cancelRetry: () => void = () => undefined;
  let onDisk: () => void = () => undefined;

  /** Returns the log in memory, even while its events are being moved to the disk. */
  const memory = (): InMemory | undefined => (logLocation?.type === 'moving' ? logLocation.from : inMemory());
  const inMemory = (): InMemory | undefined => (logLocation?.type === 'memory' ? logLocation : undefined);

  /** Also runs after a stop if a decision is due, because no other page applies it to the disk. */
  const retryLater = (): void => {
    cancelRetry();
    if (!permission.isStopped() || memory()?.decisions.size)
      cancelRetry = after(RETRY_MS, () => void retry());
  };
  const toMemory = (cause: unknown): void => {
    if (memory()) return;
    logLocation = { type: 'memory', store: createMemoryStore(), decisions: new Set() };
    cache.clear();
    notify({ type: 'memory-mode', on: true, reason: Object(cause).message ?? String(cause) });
    retryLater();
  };

  /** Moves the log from memory to the disk. `hadRecord`: whether the last check found the log state on the disk. */
  const moveToDisk = async (from: InMemory, hadRecord: boolean): Promise<void> => {
    try {
      // Before the chunk loads, which may fail until the page closes.
      for (const decision of from.decisions) {
        // A full disk rejects a choice, but not the deletion that follows.
        await disk.request(decision).then(
          () => from.decisions.delete(decision),
          () => undefined,
        );
      }
      if (from.decisions.size > 0) throw new Error();
      const { restore } = await trouble();
      await restore(disk.request, from, hadRecord);
    } catch {
      // The disk still fails, or the chunk cannot be loaded. The events stay in memory, and the host already has the notice.
      logLocation = from;
      return retryLater();
    }
    logLocation = { type: 'disk' };
    cache.clear();
    cancelRetry();
    notify({ type: 'memory-mode', on: false });
    onDisk();
  };

  /**
   * Returns whether the disk has the log state, and applies a stored opt-out. Rejects if the disk cannot or must not be
   * used.
   */
  const probe = async (): Promise<boolean> => {
    if (permission.is('pending')) throw new Error('consent is pending');
    const found = await disk.request((each) =>
      each.entries<Partial<LogState> | undefined>(LOG_STATE_VERSIONS_RANGE),
    );
    const record = found.find(([key]) => isLogStateKey(key))?.[1];
    const isOurs = !isNewer(record);
    const isCached = isOurs && !memory();
    if (isCached) cache.set(record);
    const missed = found.filter(([key]) => !isCached || !isLogStateKey(key)).map(([, each]) => each);
    // An opt-out applies in every version, so the log states of later versions are read, too. A page in memory mode may have
    // missed the opt-out on the channel, and sends nothing until its events are back on the disk.
    for (const each of missed) {
      if (!isOptOut(each?.consent)) continue;
      const choice = each?.consent === 'disabled' ? 'disabled' : 'keep';
      void permission.merge({ consent: choice, decidedAt: Number(each?.decidedAt) || 0 });
    }
    if (!isOurs) throw newerVersionError();
    return record !== undefined;
  };
  const probeWithTimeout = (): Promise<boolean> => {
    const probing = probe();
    // A response after the timeout still ends memory mode.
    probing.then(retry, () => undefined);
    return withTimeout(probing, after, OPEN_MS, 'The store');
  };
  const checkDisk = async (): Promise<void> => {
    let hadRecord: boolean;
    try {
      hadRecord = await probeWithTimeout();
    } catch (error) {
      toMemory(error);
      return retryLater();
    }
    const from = inMemory();
    if (!from) {
      logLocation = { type: 'disk' };
      return;
    }
    // Concurrent writes wait, so that no event is left in memory.
    const over = moveToDisk(from, hadRecord);
    logLocation = { type: 'moving', from, over };
    await over;
  };
  const retry = async (): Promise<void> => {
    if (!inMemory()) return;
    checking ??= checkDisk().finally(() => {
      checking = undefined;
    });
    await checking;
  };

  const run = async <T>(work: (store: Store) => Promise<T>, ifLost?: () => T): Promise<T> => {
    logLocation ??= { type: 'moving', from: undefined, over: checkDisk() };
    while (logLocation.type === 'moving') await logLocation.over;
    if (logLocation.type === 'memory') return work(logLocation.store);
    try {
      return await disk.request(work, ifLost);
    } catch (error) {
      if (isQuotaError(error)) throw error;
      toMemory(error);
      return run(work, ifLost);
    }
  };

  const clearMemory = (): void => {
    const log = memory();
    if (!log) return;
    log.store = createMemoryStore();
    log.decisions.clear();
    cache.clear();
  };

  /** In memory mode, retries the disk, and applies a decision to it now or once it works. Otherwise does nothing. */
  const applyWhenDiskWorks = (decision?: StoreDecision): Promise<void> => {
    if (decision) memory()?.decisions.add(decision);
    return retry();
  };

  return {
    entries: <T>(range?: KeyRange) => run((each) => each.entries<T>(range)),
    setMany: (records: Writes) =>
      run<void>(
        (each) => each.setMany(records),
        () => undefined,
      ),
    deleteMany: (keys: StoreKey[]) => run((each) => each.deleteMany(keys)),
    /** Rejects with any error that `change` throws, which does not count as a disk failure. */
    async update<T>(
      keys: (StoreKey | KeyRange)[],
      change: (values: (T | undefined)[]) => Writes,
    ): Promise<void> {
      let failure: { cause: unknown } | undefined;
      const guarded = (values: (T | undefined)[]): Writes => {
        failure = undefined;
        try {
          return change(values);
        } catch (cause) {
          failure = { cause };
          return [];
        }
      };
      await run((each) => each.update<T>(keys, guarded));
      if (failure) throw failure.cause;
    },
    /** Deletes all records. In memory mode, replaces the decisions that are due on the disk by `wipe`. */
    async clear(wipe?: StoreDecision): Promise<void> {
      clearMemory();
      void applyWhenDiskWorks(wipe);
      await run((each) => each.clear());
      cache.clear();
      return applyWhenDiskWorks(wipe);
    },
    isMemory: () => memory() !== undefined,
    retry,
    switchToMemory: toMemory,
    clearMemory,
    /** Sets the callback for the end of memory mode. */
    onDisk(wake: () => void): void {
      onDisk = wake;
    },
    applyWhenDiskWorks,
    /** Pending requests still complete, because a click may wait for one. */
    close(): void {
      if (!memory()?.decisions.size) cancelRetry();
      disk.close();
    },
  };
};
