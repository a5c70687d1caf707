import type { Store, StoreKey } from '../client/index.ts';
import { compareKeys, createMemoryStore, type MemoryRecords } from '../client/platform/index.ts';

/** Opens a store of a page. Operations of a closed page have no effect and never settle. */
const openStore = (records: MemoryRecords, isAlive: () => boolean): Store => {
  const store = createMemoryStore(records);
  const whileAlive = <T>(work: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      if (!isAlive()) return;
      work().then((value) => {
        if (isAlive()) resolve(value);
      }, reject);
    });
  return {
    entries: (range) => whileAlive(() => store.entries(range)),
    get: (key) => whileAlive(() => store.get(key)),
    setMany: (changes) => whileAlive(() => store.setMany(changes)),
    deleteMany: (keys) => whileAlive(() => store.deleteMany(keys)),
    update: (keys, change) => whileAlive(() => store.update(keys, change)),
    clear: () => whileAlive(() => store.clear()),
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
  const stores = new Map<string, MemoryRecords>();
  const openRecords = (name: string): MemoryRecords => {
    const records = stores.get(name) ?? new Map();
    stores.set(name, records);
    return records;
  };
  return {
    openStore: (name) => openStore(openRecords(name), () => true),
    session() {
      let alive = true;
      return {
        openStore: (name) => openStore(openRecords(name), () => alive),
        kill() {
          alive = false;
        },
      };
    },
    records: (name) => structuredClone([...openRecords(name).values()].sort(([a], [b]) => compareKeys(a, b))),
    erase() {
      for (const records of stores.values()) records.clear();
    },
  };
};
