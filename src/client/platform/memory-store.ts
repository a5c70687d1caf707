import type { KeyRange, Store, StoreKey } from './store.ts';

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

  return {
    entries: async <T>(range?: KeyRange) =>
      structuredClone(
        [...records.values()]
          .filter(([key]) => isIn(range, key))
          // Most are in order already, as they came.
          .sort(([a], [b]) => compareKeys(a, b))
          .slice(0, range?.limit),
      ) as [StoreKey, T][],
    get: async (key) => read(key),
    setMany: async (changes) => write(changes),
    deleteMany: async (keys) => write(keys.map((key) => [key, undefined])),
    update: async (keys, change) => write(change(keys.map((key) => read(key)))),
    clear: async () => records.clear(),
  };
};
