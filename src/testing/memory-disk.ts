import type { KeyRange, Store, StoreKey } from '../client/index.ts';

const rank = (key: StoreKey): number => (Array.isArray(key) ? 2 : typeof key === 'string' ? 1 : 0);

/** Compares keys as IndexedDB does: numbers, strings, then arrays element by element. */
const compare = (a: StoreKey, b: StoreKey): number => {
  if (Array.isArray(a) && Array.isArray(b)) {
    for (const [at, element] of a.entries()) {
      if (at >= b.length) return 1;
      const order = compare(element, b[at]!);
      if (order !== 0) return order;
    }
    return a.length - b.length;
  }
  return rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0);
};

type Records = Map<string, [StoreKey, unknown]>;

const storeOn = (records: Records, alive: () => boolean): Store => {
  const toRecordKey = (key: StoreKey) => JSON.stringify(key);
  const read = (key: StoreKey) => structuredClone(records.get(toRecordKey(key))?.[1]);
  const write = (changes: [StoreKey, unknown][]) => {
    for (const [key, value] of structuredClone(changes)) {
      if (value === undefined) records.delete(toRecordKey(key));
      else records.set(toRecordKey(key), [key, value]);
    }
  };
  /** Operations of a closed page have no effect and never settle. */
  const verb = <T>(work: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      if (!alive()) return;
      try {
        const result = work();
        queueMicrotask(() => {
          if (alive()) resolve(result);
        });
      } catch (error) {
        reject(error);
      }
    });
  const find = (range?: KeyRange): [StoreKey, unknown][] =>
    structuredClone(
      [...records.values()]
        .filter(([key]) => !range || (compare(key, range.from) >= 0 && compare(key, range.to) <= 0))
        .sort(([a], [b]) => compare(a, b))
        .slice(0, range?.limit),
    );
  const readAny = (key: StoreKey | KeyRange) =>
    typeof key === 'object' && 'from' in key ? find(key).map(([, value]) => value) : read(key);
  return {
    entries: <T>(range?: KeyRange) => verb(() => find(range) as [StoreKey, T][]),
    get: <T>(key: StoreKey) => verb(() => read(key) as T | undefined),
    setMany: (changes) => verb(() => write(changes)),
    deleteMany: (keys) => verb(() => write(keys.map((key) => [key, undefined]))),
    update: <T>(
      keys: (StoreKey | KeyRange)[],
      change: (values: (T | undefined)[]) => [StoreKey, unknown][],
    ) => verb(() => write(change(keys.map((key) => readAny(key) as T | undefined)))),
    clear: () => verb(() => records.clear()),
  };
};

/** Storage session of one page. */
export interface DiskSession {
  /** Opens a store. Pass it as `platform.openStore`. */
  openStore: (name: string) => Store;
  /** Closes the page. Operations that have not started never run, and pending operations never settle. */
  kill: () => void;
}

/** In-memory storage of a browser profile, shared by its pages. Survives each page. */
export interface MemoryDisk {
  /** Opens a store without a session, for a test with one page. */
  openStore: (name: string) => Store;
  /** Opens a session for a page, which lasts until `kill()`. */
  session: () => DiskSession;
  /** Returns all records of a store in key order, for assertions. */
  records: (name: string) => [StoreKey, unknown][];
  /** Clears the site's data. */
  erase: () => void;
}

/** Creates in-memory storage of a browser profile, which survives its pages. */
export const createMemoryDisk = (): MemoryDisk => {
  const stores = new Map<string, Records>();
  const openRecords = (name: string): Records => {
    const records = stores.get(name) ?? new Map();
    stores.set(name, records);
    return records;
  };
  return {
    openStore: (name) => storeOn(openRecords(name), () => true),
    session() {
      let alive = true;
      return {
        openStore: (name) => storeOn(openRecords(name), () => alive),
        kill() {
          alive = false;
        },
      };
    },
    records: (name) => structuredClone([...openRecords(name).values()].sort(([a], [b]) => compare(a, b))),
    erase() {
      for (const records of stores.values()) records.clear();
    },
  };
};
