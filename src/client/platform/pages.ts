import type { KeyRange, Store, StoreKey } from './store.ts';

/** Records in one read, so that no read blocks the page. */
const PAGE_SIZE = 200;

/** Reads a range of array keys page by page, in key order. */
export async function* pages<T>(store: Store, range: KeyRange): AsyncGenerator<[StoreKey, T][]> {
  for (let { from } = range; ; ) {
    const records = await store.entries<T>({ ...range, from, limit: PAGE_SIZE });
    yield records;
    if (records.length < PAGE_SIZE) return;
    // The key that sorts right behind the last one.
    from = [...(records.at(-1)![0] as (string | number)[]), 0];
  }
}
