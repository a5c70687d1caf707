import { createMemoryStore, type KeyRange, type Store, type StoreKey } from '../../platform/store.ts';
import { withTimeout } from '../../platform/waits.ts';
import type { DeliveryContext, Trouble } from '../delivery.ts';
import { createDisk, type InMemory } from './disk.ts';
import {
  CONTROLS_RANGE,
  type Control,
  isControlKey,
  isNewer,
  isOptOut,
  newerVersion,
  type Writes,
} from './records.ts';
import type { LastSeen } from './remembered.ts';

/** Some engines never settle `indexedDB.open`: after this long the page goes on in memory. */
const OPEN_MS = 2_000;
/** How often the disk is tried again while in memory mode. */
const RETRY_MS = 30_000;

/** Whether the disk is full. The log store leaves that to its caller, who knows what to evict. */
export const isQuota = (error: unknown): boolean => Object(error).name === 'QuotaExceededError';

/** Where the log is. */
type Place =
  /** The page looks at the disk for the first time, or brings what memory held back to it. Each call waits until that is `over`. */
  { type: 'moving'; from: InMemory | undefined; over: Promise<void> } | { type: 'disk' } | InMemory;

/**
 * The store of the log: on disk, or in memory while the disk fails, hangs, belongs to a newer version, or waits for the user's
 * consent. A transaction that failed was not committed, so it is repeated in memory.
 */
export const createLogStore = (
  {
    consent,
    clock,
    lifecycle,
    notify,
    isStopped,
    trouble,
  }: Pick<DeliveryContext, 'consent' | 'clock' | 'lifecycle' | 'notify' | 'isStopped'> & {
    trouble: () => Promise<Pick<Trouble, 'restore'>>;
  },
  store: Store,
  control: LastSeen,
) => {
  const { after } = clock;
  const disk = createDisk(store, lifecycle, after);
  /** `undefined` before the first call: without consent the page must not even create an empty database. */
  let place: Place | undefined;
  /** A look at the disk that is under way. In memory mode nothing waits for it. */
  let looking: Promise<void> | undefined;
  let cancelRetry: () => void = () => undefined;
  let onDisk: () => void = () => undefined;

  /** The log in memory, also while its events are brought to the disk. */
  const memory = (): InMemory | undefined => (place?.type === 'moving' ? place.from : inMemory());
  const inMemory = (): InMemory | undefined => (place?.type === 'memory' ? place : undefined);

  /** Also once the client has stopped, where something has to be deleted: nobody else knows of it. */
  const retryLater = (): void => {
    cancelRetry();
    if (!isStopped() || memory()?.owed) cancelRetry = after(RETRY_MS, () => void retry());
  };
  const toMemory = (cause: unknown): void => {
    if (memory()) return;
    place = { type: 'memory', store: createMemoryStore() };
    control.forget();
    notify({ type: 'memory-mode', on: true, reason: Object(cause).message ?? String(cause) });
    retryLater();
  };

  /** Brings what memory holds to the disk. `hadRecord`: the disk had a control record a moment ago. */
  const bringBack = async (from: InMemory, hadRecord: boolean): Promise<void> => {
    try {
      const { restore } = await trouble();
      await restore(disk, from, hadRecord);
    } catch {
      // The disk still fails: the events stay in memory, and the host knows of memory mode already.
      place = from;
      return retryLater();
    }
    place = { type: 'disk' };
    control.forget();
    cancelRetry();
    notify({ type: 'memory-mode', on: false });
    onDisk();
  };

  /**
   * Whether the disk has a control record. Rejects where the disk cannot be used, or must be left alone. The page follows an opt-out
   * that lies there.
   */
  const probe = async (): Promise<boolean> => {
    if (consent.is('pending')) throw new Error('the user has not decided yet');
    const found = await disk.ask((each) => each.entries<Partial<Control> | undefined>(CONTROLS_RANGE));
    const record = found.find(([key]) => isControlKey(key))?.[1];
    const isOurs = !isNewer(record);
    const isKept = isOurs && !memory();
    if (isKept) control.keep(record);
    const missed = found.filter(([key]) => !isKept || !isControlKey(key)).map(([, each]) => each);
    // An opt-out holds in every version: under our key, and under those of versions to come. No channel may have brought it to
    // a page in memory mode, which sends nothing from then on until its events are back on the disk.
    for (const each of missed) {
      if (!isOptOut(each?.consent)) continue;
      const choice = each?.consent === 'disabled' ? 'disabled' : 'keeping';
      void consent.hear({ consent: choice, chosenAt: Number(each?.chosenAt) || 0 });
    }
    if (!isOurs) throw newerVersion();
    return record !== undefined;
  };
  const ask = (): Promise<boolean> => {
    const answer = probe();
    // An answer that comes too late ends memory mode all the same.
    answer.then(retry, () => undefined);
    return withTimeout(answer, after, OPEN_MS, 'The store');
  };
  const look = async (): Promise<void> => {
    let hadRecord: boolean;
    try {
      hadRecord = await ask();
    } catch (error) {
      toMemory(error);
      return retryLater();
    }
    const from = inMemory();
    if (!from) {
      place = { type: 'disk' };
      return;
    }
    // What is written meanwhile waits, so that nothing is left behind in memory.
    const over = bringBack(from, hadRecord);
    place = { type: 'moving', from, over };
    await over;
  };
  const retry = async (): Promise<void> => {
    if (!inMemory()) return;
    looking ??= look().finally(() => {
      looking = undefined;
    });
    await looking;
  };

  const run = async <T>(work: (store: Store) => Promise<T>, ifLost?: () => T): Promise<T> => {
    place ??= { type: 'moving', from: undefined, over: look() };
    while (place.type === 'moving') await place.over;
    if (place.type === 'memory') return work(place.store);
    try {
      return await disk.ask(work, ifLost);
    } catch (error) {
      if (isQuota(error)) throw error;
      toMemory(error);
      return run(work, ifLost);
    }
  };

  /** Forgets what is in memory, and leaves the disk alone. */
  const forgetMemory = (): void => {
    const held = memory();
    if (!held) return;
    held.store = createMemoryStore();
    control.forget();
  };
  // A user who refuses at the first question leaves nothing of what this page has kept in memory.
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
    /** An error that `change` throws goes to the caller: it is no failure of the disk. */
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
    async clear(): Promise<void> {
      await run((each) => {
        const held = memory();
        if (held?.store === each) held.owed = 'everything';
        return each.clear();
      });
      control.forget();
      void retry();
    },
    isMemory: () => memory() !== undefined,
    /** Tries the disk again, where the log is in memory. */
    retry,
    /** Goes on in memory. */
    degrade: toMemory,
    forgetMemory,
    /** `wake` is called each time memory mode is over. */
    onDisk(wake: () => void): void {
      onDisk = wake;
    },
    /** The user wants the queue deleted. In memory mode the disk's part of it is deleted once the disk answers. */
    owePurge(): void {
      const held = memory();
      if (held) held.owed ??= 'queue';
    },
    /** What the disk was asked before still comes to its end: a click may wait for it. */
    close(): void {
      if (!memory()?.owed) cancelRetry();
      disk.close();
    },
  };
};
