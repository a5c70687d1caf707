import { compareKeys } from './key-order.ts';
import type { KeyRange, Store, StoreKey } from './store.ts';

/** Where `key` is, or would be, in the sorted `records`. */
const position = (records: [StoreKey, unknown][], key: StoreKey): number => {
  let low = 0;
  let high = records.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareKeys(records[middle]![0], key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
};

/**
 * A store that lives as long as the page: the fallback where IndexedDB cannot be used, and the fake in tests.
 * Values are cloned on the way in and out, as IndexedDB does.
 */
export const createMemoryStore = (): Store => {
  let records: [StoreKey, unknown][] = [];

  const find = (key: StoreKey): [number, boolean] => {
    const at = position(records, key);
    return [at, at < records.length && compareKeys(records[at]![0], key) === 0];
  };
  const read = <T>(key: StoreKey): T | undefined => {
    const [at, found] = find(key);
    return found ? (structuredClone(records[at]![1]) as T) : undefined;
  };
  const write = (key: StoreKey, value: unknown): void => {
    const [at, found] = find(key);
    if (value === undefined) records.splice(at, found ? 1 : 0);
    else records.splice(at, found ? 1 : 0, [key, value]);
  };

  return {
    async entries<T>(range?: KeyRange) {
      if (range === undefined) return structuredClone(records) as [StoreKey, T][];
      const { from, to, limit = Number.POSITIVE_INFINITY } = range;
      const start = position(records, from);
      let end = position(records, to);
      if (end < records.length && compareKeys(records[end]![0], to) === 0) end += 1;
      return structuredClone(records.slice(start, Math.min(end, start + limit))) as [StoreKey, T][];
    },
    get: async (key) => read(key),
    async setMany(changes) {
      for (const [key, value] of structuredClone(changes)) write(key, value);
    },
    async deleteMany(keys) {
      for (const key of keys) write(key, undefined);
    },
    async update(keys, change) {
      for (const [key, value] of structuredClone(change(keys.map((key) => read(key))))) write(key, value);
    },
    async clear() {
      records = [];
    },
  };
};
