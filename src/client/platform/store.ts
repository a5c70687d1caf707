/** Record key. IndexedDB sorts array keys element by element, so `[time, sequence]` orders the queue. */
export type StoreKey = string | number | (string | number)[];

/** Range of keys, both ends included. */
export interface KeyRange {
  from: StoreKey;
  to: StoreKey;
  /** Maximum number of records, lowest keys first. Default: all. */
  limit?: number;
}

/**
 * Store of records in key order. Each method is one transaction, which is durable when the promise resolves. It rejects with
 * the engine's error.
 */
export interface Store {
  /** Returns the records of a range in key order. Default: all. */
  entries<T>(range?: KeyRange): Promise<[StoreKey, T][]>;
  /** Returns the value of a key; `undefined` if not found. */
  get<T>(key: StoreKey): Promise<T | undefined>;
  /** Writes all records atomically. */
  setMany(records: [StoreKey, unknown][]): Promise<void>;
  /** Deletes all keys atomically. */
  deleteMany(keys: StoreKey[]): Promise<void>;
  /**
   * Reads `keys`, and writes the records that `change` returns in the same transaction. The value `undefined` deletes a record.
   * For a range instead of a key, the value is the list of its values in key order. `change` must be pure, because it runs
   * again after a lost database connection.
   */
  update<T>(
    keys: (StoreKey | KeyRange)[],
    change: (values: (T | undefined)[]) => [StoreKey, unknown][],
  ): Promise<void>;
  /** Deletes all records. */
  clear(): Promise<void>;
}

/** IndexedDB order: numbers, strings, then arrays, which compare element by element. */
const rank = (key: StoreKey): number => (typeof key === 'number' ? 0 : typeof key === 'string' ? 1 : 2);

/** Returns a negative number if `a` sorts before `b`, a positive number if after, and 0 if the keys are equal. */
export const compareKeys = (a: StoreKey, b: StoreKey): number => {
  if (!Array.isArray(a) || !Array.isArray(b)) return rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0);
  for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
    const order = compareKeys(a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
};

/** Records by the JSON of their key. */
export type MemoryRecords = Map<string, [StoreKey, unknown]>;

/**
 * Creates a store in memory, which is the fallback if IndexedDB is unavailable, and the fake in tests. Values are cloned on write
 * and read, as in IndexedDB.
 */
export const createMemoryStore = (records: MemoryRecords = new Map()): Store => {
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
        // Most records are already in order.
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
