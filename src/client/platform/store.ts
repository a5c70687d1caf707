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
 * engine's error. idb-keyval keeps one object store a database, so the cache and the outbox open one each.
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
   * deletes. `change` must be pure: after a lost connection it is called again.
   */
  update<T>(keys: StoreKey[], change: (values: (T | undefined)[]) => [StoreKey, unknown][]): Promise<void>;
  /** Removes everything. */
  clear(): Promise<void>;
}
