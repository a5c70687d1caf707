/** IndexedDB sorts array keys element by element: `[time, sequence]` makes the store the queue. */
export type StoreKey = string | number | (string | number)[];

/**
 * A small port: ordered records. Each verb is one transaction, durable when it resolves, and rejects with the
 * engine's error. idb-keyval keeps one object store a database, so the cache and the outbox open one each.
 */
export interface Store {
  /** All records in key order. */
  entries<T>(): Promise<[StoreKey, T][]>;
  get<T>(key: StoreKey): Promise<T | undefined>;
  setMany(records: [StoreKey, unknown][]): Promise<void>;
  deleteMany(keys: StoreKey[]): Promise<void>;
  /** Reads, and in the same transaction writes (a value) or deletes (`undefined`) what `change` answers. */
  update<T>(keys: StoreKey[], change: (values: (T | undefined)[]) => (T | undefined)[]): Promise<void>;
  clear(): Promise<void>;
}
