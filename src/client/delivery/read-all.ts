import type { KeyRange, Store, StoreKey } from '../platform/store.ts';

/** Records in one read, so that no read blocks the page. */
const SLICE = 500;

/** All records of a range, in key order. */
export const readAll = async (store: Store, range: KeyRange): Promise<[StoreKey, unknown][]> => {
  const found: [StoreKey, unknown][] = [];
  for (let from = range.from!; ; ) {
    const records = await store.entries<unknown>({ ...range, from, limit: SLICE });
    found.push(...records);
    if (records.length < SLICE) return found;
    from = [...(records.at(-1)![0] as (string | number)[]), 0];
  }
};
