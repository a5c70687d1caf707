import type { PageLifecycle } from './page-lifecycle.ts';
import type { Store } from './store.ts';

/**
 * A store that rests while the page is away in the back/forward cache. A transaction that reads before it writes would
 * stay open there with its lock held, and the browser evicts a page that blocks another one. What is only written
 * (`setMany`) needs nobody to answer, so it still goes; everything else waits for the page's return.
 */
export const createRestingStore = (store: Store, lifecycle: PageLifecycle): Store & { close(): void } => {
  let back: Promise<void> | undefined;
  let wake: () => void = () => undefined;
  const stops = [
    lifecycle.on('leave', () => {
      back ??= new Promise((resolve) => {
        wake = resolve;
      });
    }),
    lifecycle.on('restored', () => {
      wake();
      back = undefined;
    }),
  ];

  return {
    async entries(range) {
      await back;
      return store.entries(range);
    },
    async get(key) {
      await back;
      return store.get(key);
    },
    setMany: (records) => store.setMany(records),
    async deleteMany(keys) {
      await back;
      return store.deleteMany(keys);
    },
    async update(keys, change) {
      await back;
      return store.update(keys, change);
    },
    async clear() {
      await back;
      return store.clear();
    },
    close() {
      for (const stop of stops) stop();
      wake();
    },
  };
};
