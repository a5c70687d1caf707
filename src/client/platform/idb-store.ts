import { createStore, promisifyRequest, type UseStore } from 'idb-keyval';
import type { KeyRange, Store, StoreKey } from './store.ts';

const OBJECT_STORE = 'records';

const toQuery = ({ from, to }: KeyRange): IDBKeyRange => IDBKeyRange.bound(from, to);

/**
 * Returns whether the connection is lost. WebKit loses its database server while a page is in the background (`UnknownError`,
 * or an abort without a reason). A closed handle fails permanently with `InvalidStateError`.
 */
const isLost = (error: unknown): boolean =>
  error === null || ['InvalidStateError', 'UnknownError', 'AbortError'].includes(Object(error).name);

/** Commits the transaction at once, so that it completes even if the page is gone before the `complete` event. */
const commit = ({ transaction }: IDBObjectStore): Promise<void> =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
    // The failed request has the reason. The transaction has none yet. In WebKit it never gets one, and Firefox 153 may even
    // complete the transaction.
    transaction.onerror = ({ target }) => reject(Object(target).error);
    transaction.commit?.();
  });

/**
 * Creates a store in the IndexedDB database `name`, with the default durability. Reopens a lost database connection and retries the
 * transaction once, because it was not committed or may safely run twice.
 */
export const createIdbStore = (name: string): Store => {
  let use: UseStore = createStore(name, OBJECT_STORE);

  const run = async <T>(
    mode: IDBTransactionMode,
    work: (store: IDBObjectStore) => Promise<T>,
  ): Promise<T> => {
    const attempt = () =>
      use(mode, (store) => {
        const { db } = store.transaction;
        // idb-keyval does not handle this event, and an open handle would block another tab's upgrade or delete.
        db.onversionchange = () => db.close();
        return work(store);
      });
    const used = use;
    try {
      return await attempt();
    } catch (error) {
      if (!isLost(error)) throw error;
      if (use === used) use = createStore(name, OBJECT_STORE);
      return attempt();
    }
  };

  const update = <T>(
    keys: (StoreKey | KeyRange)[],
    change: (values: (T | undefined)[]) => (readonly [StoreKey, unknown])[],
  ): Promise<void> =>
    run(
      'readwrite',
      (store) =>
        new Promise<void>((resolve, reject) => {
          const reads = keys.map(
            (key): IDBRequest =>
              typeof key === 'object' && 'from' in key ? store.getAll(toQuery(key)) : store.get(key),
          );
          const write = () => {
            try {
              for (const [key, value] of change(reads.map((read) => read.result))) {
                if (value === undefined) store.delete(key);
                else store.put(value, key);
              }
              commit(store).then(resolve, reject);
            } catch (error) {
              reject(error);
              store.transaction.abort();
            }
          };
          const last = reads.at(-1);
          if (last === undefined) return write();
          last.onsuccess = write;
          store.transaction.onabort = () => reject(store.transaction.error);
        }),
    );

  return {
    update,
    entries: <T>(range?: KeyRange) =>
      run('readonly', async (store) => {
        const query = range && toQuery(range);
        // Both requests fail if the transaction is aborted. If they were awaited one by one, the second would be an unhandled
        // rejection.
        const [keys, values] = await Promise.all([
          promisifyRequest(store.getAllKeys(query, range?.limit)),
          promisifyRequest<T[]>(store.getAll(query, range?.limit)),
        ]);
        return keys.map((key, i): [StoreKey, T] => [key as StoreKey, values[i]!]);
      }),
    get: <T>(key: StoreKey) => run('readonly', (store) => promisifyRequest<T | undefined>(store.get(key))),
    setMany: (records) => update([], () => records),
    deleteMany: (keys) => update([], () => keys.map((key) => [key, undefined])),
    clear: () =>
      run('readwrite', (store) => {
        store.clear();
        return commit(store);
      }),
  };
};
