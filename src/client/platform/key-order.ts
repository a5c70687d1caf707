import type { StoreKey } from './store.ts';

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
