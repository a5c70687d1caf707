import type { Clock } from './clock.ts';
import { createMemoryStore } from './memory-store.ts';
import type { Store, StoreKey } from './store.ts';
import { withTimeout } from './timeout.ts';

/** Some engines never settle `indexedDB.open`: after this long the page goes on in memory. */
const OPEN_MS = 2_000;
/** How often the real store is tried again while in memory mode. */
const RETRY_MS = 30_000;

export interface FallbackStore extends Store {
  isMemory(): boolean;
  /** Tries the real store again now, for example when the page is shown. Resolves when the page is back on it, or cannot be. */
  retry(): Promise<void>;
  /** Goes on in memory at once, for example when the disk is full and nothing is left to evict. */
  degrade(reason: unknown): void;
  /** Forgets what is in memory, and leaves the real store alone. */
  forgetMemory(): void;
  /** Stops the timers; the store can still be used. */
  close(): void;
}

export interface FallbackOptions {
  primary: Store;
  clock: Clock;
  /** Finds out whether the real store answers; one that rejects is not used. */
  probe: () => Promise<unknown>;
  /** Called when memory mode begins (with the reason) and when it ends. */
  onMode: (memory: boolean, reason?: unknown) => void;
  /** Moves what was kept in memory to the real store. */
  adopt: (records: [StoreKey, unknown][]) => Promise<void>;
}

/** The disk is full. */
export const isQuota = (error: unknown): boolean => (error as Error | null)?.name === 'QuotaExceededError';

/**
 * `primary` as long as it works, else a store in memory until it works again. A transaction that failed was not
 * committed, so it is repeated in memory; only a full disk is left to the caller, who knows what to evict.
 */
export const createFallbackStore = (options: FallbackOptions): FallbackStore => {
  const { primary, clock, probe, onMode, adopt } = options;
  let memory: Store | undefined;
  /** Cleared while in memory mode: what lies in the real store must go as well. */
  let mustClear = false;
  let ready: Promise<void> | undefined;
  let probing: Promise<void> | undefined;
  let isClosed = false;
  let cancelRetry: () => void = () => undefined;

  const retryLater = (): void => {
    cancelRetry();
    if (!isClosed) cancelRetry = clock.after(RETRY_MS, () => void retry());
  };

  const toMemory = (reason: unknown): void => {
    if (memory !== undefined) return;
    memory = createMemoryStore();
    onMode(true, reason);
    retryLater();
  };

  /** What is written meanwhile waits, so that nothing is left behind in memory. */
  const upgrade = async (from: Store): Promise<void> => {
    try {
      if (mustClear) await primary.clear();
      mustClear = false;
      await adopt(await from.entries());
      memory = undefined;
      cancelRetry();
      onMode(false);
    } catch {
      // Still broken: the events stay in memory, where they were, and memory mode was announced already.
      retryLater();
    }
  };

  const ask = (): Promise<unknown> => {
    const answer = probe();
    // One that comes too late brings the page back all the same.
    answer.then(retry, () => undefined);
    return withTimeout(answer, clock.after, OPEN_MS, 'The store');
  };

  const look = (): Promise<void> => {
    probing ??= ask()
      .then(
        () => {
          if (memory === undefined) return undefined;
          ready = upgrade(memory);
          return ready;
        },
        (error) => {
          toMemory(error);
          retryLater();
        },
      )
      .finally(() => {
        probing = undefined;
      });
    return probing;
  };

  const retry = async (): Promise<void> => {
    if (memory !== undefined) await look();
  };

  const run = async <R>(work: (store: Store) => Promise<R>, isCallbackError = () => false): Promise<R> => {
    ready ??= look();
    // An upgrade may have begun while this one waited.
    for (let seen: Promise<void> | undefined; seen !== ready; ) {
      seen = ready;
      await seen;
    }
    if (memory !== undefined) return work(memory);
    try {
      return await work(primary);
    } catch (error) {
      if (isQuota(error) || isCallbackError()) throw error;
      toMemory(error);
      // The memory may be moving back to the store already: what it gets after that has begun would stay behind.
      return run(work, isCallbackError);
    }
  };

  return {
    entries: (range) => run((store) => store.entries(range)),
    get: (key) => run((store) => store.get(key)),
    setMany: (records) => run((store) => store.setMany(records)),
    deleteMany: (keys) => run((store) => store.deleteMany(keys)),
    update<T>(keys: StoreKey[], change: (values: (T | undefined)[]) => [StoreKey, unknown][]) {
      // An error of the change itself says nothing about the store.
      let hasFailed = false;
      const watched = (values: (T | undefined)[]) => {
        hasFailed = true;
        const records = change(values);
        hasFailed = false;
        return records;
      };
      return run(
        (store) => store.update(keys, watched),
        () => hasFailed,
      );
    },
    async clear() {
      await run((store) => {
        mustClear = store === memory;
        return store.clear();
      });
      void retry();
    },
    isMemory: () => memory !== undefined,
    retry,
    degrade: toMemory,
    forgetMemory() {
      if (memory !== undefined) memory = createMemoryStore();
    },
    close() {
      isClosed = true;
      cancelRetry();
    },
  };
};
