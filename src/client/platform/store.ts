/** IndexedDB sorts array keys element by element: `[time, sequence]` makes the store the queue. */
export type StoreKey = string | number | (string | number)[];

/** A range of keys, both ends included. */
export interface KeyRange {
  from: StoreKey;
  to: StoreKey;
  /** At most so many records, lowest keys first. */
  limit?: number;
}

/**
 * A small port: ordered records. Each verb is one transaction, durable when it resolves, and rejects with the
 * engine's error. idb-keyval keeps one object store a database, so the cache and the event log open one each.
 */
export interface Store {
  /** The records of a range (default: all) in key order. */
  entries<T>(range?: KeyRange): Promise<[StoreKey, T][]>;
  /** The value of a key, `undefined` where there is none. */
  get<T>(key: StoreKey): Promise<T | undefined>;
  /** Writes all records, or none of them. */
  setMany(records: [StoreKey, unknown][]): Promise<void>;
  /** Removes all keys, or none of them. */
  deleteMany(keys: StoreKey[]): Promise<void>;
  /**
   * Reads `keys`, and in the same transaction writes the records that `change` answers; the value `undefined`
   * deletes. In place of a key may stand a range: its value is the list of the values in it, in the order of their keys. `change` must be
   * pure: after a lost connection it is called again.
   */
  update<T>(
    keys: (StoreKey | KeyRange)[],
    change: (values: (T | undefined)[]) => [StoreKey, unknown][],
  ): Promise<void>;
  /** Removes everything. */
  clear(): Promise<void>;
}

/** IndexedDB's order: numbers, then strings, then arrays, which compare element by element. */
const rank = (key: StoreKey): number => (typeof key === 'number' ? 0 : typeof key === 'string' ? 1 : 2);

/** Negative when `a` sorts before `b`, 0 when they are the same key. */
export const compareKeys = (a: StoreKey, b: StoreKey): number => {
  if (!Array.isArray(a) || !Array.isArray(b)) return rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0);
  for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
    const order = compareKeys(a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
};

/**
 * A store that lives as long as the page: the fallback where IndexedDB cannot be used, and the fake in tests.
 * Values are cloned on the way in and out, as IndexedDB does.
 */
export const createMemoryStore = (): Store => {
  const records = new Map<string, [StoreKey, unknown]>();
  const read = <T>(key: StoreKey): T | undefined =>
    structuredClone(records.get(JSON.stringify(key))?.[1]) as T | undefined;
  const write = (changes: [StoreKey, unknown][]): void => {
    for (const [key, value] of structuredClone(changes)) {
      if (value === undefined) records.delete(JSON.stringify(key));
      else records.set(JSON.stringify(key), [key, value]);
    }
  };
  const isIn = (range: KeyRange | undefined, key: StoreKey): boolean =>
    !range || (compareKeys(key, range.from) >= 0 && compareKeys(key, range.to) <= 0);

  const entries = <T>(range?: KeyRange): [StoreKey, T][] =>
    structuredClone(
      [...records.values()]
        .filter(([key]) => isIn(range, key))
        // Most are in order already, as they came.
        .sort(([a], [b]) => compareKeys(a, b))
        .slice(0, range?.limit),
    ) as [StoreKey, T][];

  return {
    entries: async (range) => entries(range),
    get: async (key) => read(key),
    setMany: async (changes) => write(changes),
    deleteMany: async (keys) => write(keys.map((key) => [key, undefined])),
    update: async <T>(
      keys: (StoreKey | KeyRange)[],
      change: (values: (T | undefined)[]) => [StoreKey, unknown][],
    ) => {
      const readAny = (key: StoreKey | KeyRange): T | undefined =>
        typeof key === 'object' && 'from' in key ? (entries(key).map(([, value]) => value) as T) : read(key);
      write(change(keys.map(readAny)));
    },
    clear: async () => records.clear(),
  };
};
