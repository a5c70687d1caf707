import { createMemoryStore, type KeyRange, type Store, type StoreKey } from '../../platform/store.ts';
import { withTimeout } from '../../platform/waits.ts';
import type { DeliveryContext } from '../delivery.ts';
import { CONTROL_KEY, type Control, type LastControl, readControl } from './control.ts';
import { createDisk } from './disk.ts';
import { isNewer, NEWER_RANGE, type Writes } from './records.ts';
import { adopt, forgetQueue } from './way-back.ts';

/** Some engines never settle `indexedDB.open`: after this long the page goes on in memory. */
const OPEN_MS = 2_000;
/** How often the disk is tried again while in memory mode. */
const RETRY_MS = 30_000;

/** The control record of a newer version is never changed, so the log goes on in memory. */
const newerVersion = () => new Error('a newer version keeps its events here');

/** The disk is full: the caller knows what to evict. */
export const isQuota = (error: unknown): boolean => Object(error).name === 'QuotaExceededError';

interface Memory {
  store: Store;
  /** What the user wanted forgotten on the disk, which did not answer. */
  owed?: 'everything' | 'queue';
}

/**
 * Where the log lies: on disk, or in memory while the disk fails, hangs, belongs to a newer version, or waits for the user's
 * consent. A transaction that failed was not committed, so it is repeated in memory.
 */
export const createLogStore = (
  { consent, clock, lifecycle, notify }: Pick<DeliveryContext, 'consent' | 'clock' | 'lifecycle' | 'notify'>,
  store: Store,
  control: LastControl,
) => {
  const { after } = clock;
  const disk = createDisk(store, lifecycle, after);
  const onDisk: (() => void)[] = [];
  let memory: Memory | undefined;
  /** The first look at the disk, or the way back to it: everything else waits. */
  let ready: Promise<void> | undefined;
  let looking: Promise<void> | undefined;
  let isClosed = false;
  let cancelRetry: () => void = () => undefined;

  const retryLater = (): void => {
    cancelRetry();
    if (!isClosed) cancelRetry = after(RETRY_MS, () => void retry());
  };
  const toMemory = (cause: unknown): void => {
    if (memory) return;
    memory = { store: createMemoryStore() };
    control.forget();
    notify({ type: 'memory-mode', on: true, reason: Object(cause).message ?? String(cause) });
    retryLater();
  };

  /** What is written meanwhile waits, so that nothing is left behind in memory. */
  const goBack = async (from: Memory): Promise<void> => {
    try {
      if (from.owed === 'everything') await disk.ask((each) => each.clear());
      if (from.owed === 'queue') await forgetQueue(disk);
      delete from.owed;
      await adopt(disk, await from.store.entries(), consent);
      memory = undefined;
      control.forget();
      cancelRetry();
      notify({ type: 'memory-mode', on: false });
      for (const listener of onDisk) listener();
    } catch {
      // Still broken: the events stay in memory, where they were, and memory mode was announced already.
      retryLater();
    }
  };

  /** Rejects where the disk cannot be used, or must be left alone. */
  const probe = async (): Promise<void> => {
    if (consent.is('pending')) throw new Error('the user has not decided yet');
    const record = await disk.ask((each) => each.get(CONTROL_KEY));
    // An opt-out holds in every version: under our key, and under those of versions to come.
    if (isNewer(record)) {
      control.follow(control.read(record).consent);
      throw newerVersion();
    }
    if (!memory) control.keep(record);
    const newer = await disk.ask((each) => each.entries<Partial<Control> | undefined>(NEWER_RANGE));
    const optOut = newer.find(([, each]) => each?.consent === 'disabled')?.[1];
    const isLater = optOut && !(readControl(record, 'enabled').chosenAt > Number(optOut.chosenAt));
    if (isLater) control.follow('disabled');
  };
  const ask = (): Promise<void> => {
    const answer = probe();
    // One that comes too late brings the page back all the same.
    answer.then(retry, () => undefined);
    return withTimeout(answer, after, OPEN_MS, 'The store');
  };
  const look = (): Promise<void> => {
    looking ??= ask()
      .then(
        () => {
          if (!memory) return undefined;
          ready = goBack(memory);
          return ready;
        },
        (error) => {
          toMemory(error);
          retryLater();
        },
      )
      .finally(() => {
        looking = undefined;
      });
    return looking;
  };
  const retry = async (): Promise<void> => {
    if (memory) await look();
  };

  const run = async <T>(work: (store: Store) => Promise<T>, ifLost?: () => T): Promise<T> => {
    ready ??= look();
    // The way back may have begun while this one waited.
    for (let seen: Promise<void> | undefined; seen !== ready; ) {
      seen = ready;
      await seen;
    }
    if (memory) return work(memory.store);
    try {
      return await disk.ask(work, ifLost);
    } catch (error) {
      if (isQuota(error)) throw error;
      toMemory(error);
      return run(work, ifLost);
    }
  };

  const forgetMemory = (): void => {
    if (!memory) return;
    memory.store = createMemoryStore();
    control.forget();
  };
  // What waits in memory goes to the disk with the next write there, or is forgotten.
  consent.subscribe((before) => {
    if (before === 'pending' && !consent.mayAct()) forgetMemory();
  });

  return {
    entries: <T>(range?: KeyRange) => run((each) => each.entries<T>(range)),
    get: <T>(key: StoreKey) => run((each) => each.get<T>(key)),
    setMany: (records: Writes) =>
      run<void>(
        (each) => each.setMany(records),
        () => undefined,
      ),
    deleteMany: (keys: StoreKey[]) => run((each) => each.deleteMany(keys)),
    /** What `change` throws is the caller's, and says nothing about the disk. */
    async update<T>(keys: StoreKey[], change: (values: (T | undefined)[]) => Writes): Promise<void> {
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
    async clear(): Promise<void> {
      await run((each) => {
        if (memory?.store === each) memory.owed = 'everything';
        return each.clear();
      });
      control.forget();
      void retry();
    },
    isMemory: () => memory !== undefined,
    /** Tries the disk again, where the log is in memory. */
    retry,
    /** Goes on in memory. */
    degrade: toMemory,
    /** Forgets what is in memory, and leaves the disk alone. */
    forgetMemory,
    /** Calls `listener` each time memory mode is over. */
    onDisk: (listener: () => void): void => void onDisk.push(listener),
    /** A newer version has taken the log over. */
    leaveToNewer: (): void => toMemory(newerVersion()),
    /** The user opted out and wants the queue forgotten: also what lies on a disk that does not answer now. */
    owePurge(): void {
      if (memory) memory.owed ??= 'queue';
    },
    close(): void {
      isClosed = true;
      cancelRetry();
      disk.close();
    },
  };
};
