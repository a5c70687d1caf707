import type { Choice, Consent } from '../../consent/consent.ts';
import { createMemoryStore, type KeyRange, type Store, type StoreKey } from '../../platform/store.ts';
import { withTimeout } from '../../platform/waits.ts';
import type { DeliveryContext } from '../context.ts';
import { createDisk } from './disk.ts';
import { CONTROL_KEY, type Control, isNewer, NEWER_RANGE, readControl, type Writes } from './records.ts';
import { adopt, forgetQueue } from './way-back.ts';

/** Some engines never settle `indexedDB.open`: after this long the page goes on in memory. */
const OPEN_MS = 2_000;
/** How often the disk is tried again while in memory mode. */
const RETRY_MS = 30_000;

export interface LogListener {
  /** A control record was read. */
  onRead?: (control: Control) => void;
  /** Memory mode is over. */
  onDisk?: () => void;
}

/** The control record of a newer version is never changed, so the log goes on in memory. */
const newerVersion = () => new Error('a newer version keeps its events here');

/** The disk is full: the caller knows what to evict. */
export const isQuota = (error: unknown): boolean => (error as Error | null)?.name === 'QuotaExceededError';

/**
 * Where the log lies: on disk, or in memory while the disk fails, hangs, belongs to a newer version, or waits for the user's
 * consent. A transaction that failed was not committed, so it is repeated in memory.
 */
export const createLogStore = (
  {
    consent,
    clock,
    lifecycle,
    news,
    notify,
  }: Pick<DeliveryContext, 'consent' | 'clock' | 'lifecycle' | 'news' | 'notify'>,
  store: Store,
) => {
  const { after } = clock;
  const disk = createDisk(store, lifecycle, after);
  const listeners: LogListener[] = [];
  let memory: Store | undefined;
  /** The first look at the disk, or the way back to it: everything else waits. */
  let ready: Promise<void> | undefined;
  let looking: Promise<void> | undefined;
  /** The user wanted this forgotten while the disk did not answer. */
  let owed: 'everything' | 'queue' | undefined;
  let isClosed = false;
  let cancelRetry: () => void = () => undefined;
  /** The control record as this page saw it last, and whether the disk had one. */
  let lastControl: Control | undefined;
  let isStored = false;
  /** The page has come back from the back/forward cache, and has not read the control record that was there before. */
  let wasStored = false;

  /** A record without a choice, or no record, has the choice of this page. */
  const toControl = (record: unknown): Control => {
    const choices: Partial<Record<Consent['state'], Choice>> = { pending: 'enabled', wiped: 'disabled' };
    return readControl(record, choices[consent.state] ?? (consent.state as Choice));
  };
  const announce = (control: Control): void => {
    for (const { onRead } of listeners) onRead?.(control);
  };
  /** A record that is gone when the page comes back was wiped by another page. */
  const noticeWipe = (record: unknown): void => {
    if (wasStored && !memory && record === undefined) {
      consent.set('wiped');
      notify({ type: 'consent', state: 'disabled' });
    }
    wasStored = false;
  };
  /** Keeps the control record that was read or written. */
  const remember = (record: unknown): Control => {
    noticeWipe(record);
    lastControl = toControl(record);
    isStored = record !== undefined;
    if (isStored) announce(lastControl);
    return lastControl;
  };
  const stopListening = lifecycle.on('restored', () => {
    wasStored = isStored && !memory;
  });
  news.subscribe((item) => {
    // A last flush reads nothing, and no page may send before the time that the server named to another one.
    if (item.type === 'idle') lastControl = { ...(lastControl ?? toControl(undefined)), wait: item.wait };
  });

  const retryLater = (): void => {
    cancelRetry();
    if (!isClosed) cancelRetry = after(RETRY_MS, () => void retry());
  };
  const toMemory = (cause: unknown): void => {
    if (memory) return;
    memory = createMemoryStore();
    lastControl = undefined;
    notify({ type: 'memory-mode', on: true, reason: (cause as Error | null)?.message ?? String(cause) });
    retryLater();
  };

  /** What is written meanwhile waits, so that nothing is left behind in memory. */
  const goBack = async (from: Store): Promise<void> => {
    try {
      if (owed === 'everything') await disk.ask((each) => each.clear());
      if (owed === 'queue') await forgetQueue(disk);
      owed = undefined;
      await adopt(disk, await from.entries(), consent);
      memory = undefined;
      lastControl = undefined;
      cancelRetry();
      notify({ type: 'memory-mode', on: false });
      for (const { onDisk } of listeners) onDisk?.();
    } catch {
      // Still broken: the events stay in memory, where they were, and memory mode was announced already.
      retryLater();
    }
  };

  /** Rejects where the disk cannot be used, or must be left alone. */
  const probe = async (): Promise<void> => {
    if (consent.state === 'pending') throw new Error('the user has not decided yet');
    const record = await disk.ask((each) => each.get(CONTROL_KEY));
    // An opt-out holds in every version: under our key, and under those of versions to come.
    if (isNewer(record)) {
      announce(toControl(record));
      throw newerVersion();
    }
    if (!memory) remember(record);
    const newer = await disk.ask((each) => each.entries<Partial<Control>>(NEWER_RANGE));
    const optOut = newer.find(([, each]) => each?.consent === 'disabled')?.[1];
    const isLater = optOut && !(readControl(record, 'enabled').chosenAt > Number(optOut.chosenAt));
    if (isLater) announce({ ...toControl(record), consent: 'disabled' });
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

  const run = async <T>(work: (store: Store) => Promise<T>, isBlind = false): Promise<T> => {
    ready ??= look();
    // The way back may have begun while this one waited.
    for (let seen: Promise<void> | undefined; seen !== ready; ) {
      seen = ready;
      await seen;
    }
    if (memory) return work(memory);
    try {
      return await disk.ask(work, isBlind);
    } catch (error) {
      if (isQuota(error)) throw error;
      toMemory(error);
      return run(work, isBlind);
    }
  };

  const forgetMemory = (): void => {
    if (memory) memory = createMemoryStore();
  };
  // What waits in memory goes to the disk with the next write there, or is forgotten.
  consent.subscribe((before) => {
    if (before === 'pending' && !consent.mayAct()) forgetMemory();
  });

  return {
    entries: <T>(range?: KeyRange) => run((each) => each.entries<T>(range)),
    get: <T>(key: StoreKey) => run((each) => each.get<T>(key)),
    setMany: (records: Writes) => run((each) => each.setMany(records), true),
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
        if (each === memory) owed = 'everything';
        return each.clear();
      });
      isStored = false;
      void retry();
    },
    isMemory: () => memory !== undefined,
    /** Tries the disk again, where the log is in memory. */
    retry,
    /** Goes on in memory. */
    degrade: toMemory,
    /** Forgets what is in memory, and leaves the disk alone. */
    forgetMemory,
    subscribe: (listener: LogListener): void => void listeners.push(listener),
    toControl,
    noticeWipe,
    remember,
    /** The control record as this page saw it last. */
    lastControl: (): Control => lastControl ?? toControl(undefined),
    /** A newer version has taken the log over. */
    leaveToNewer: (): void => toMemory(newerVersion()),
    /** The user opted out and wants the queue forgotten: also what lies on a disk that does not answer now. */
    owePurge(): void {
      if (memory) owed ??= 'queue';
    },
    close(): void {
      isClosed = true;
      cancelRetry();
      stopListening();
      disk.close();
    },
  };
};
