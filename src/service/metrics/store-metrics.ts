import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Store } from '../store/store.ts';
import { SECONDS } from './seconds.ts';

/** Times the calls of a store, and what it stores together. */
export const createStoreMetrics = (registry: Registry) => {
  const registers = [registry];
  const operations = new Histogram({
    name: 'placard_store_seconds',
    help: 'Store calls from the request to the durable answer, time in the queue included, by operation.',
    labelNames: ['operation'],
    buckets: SECONDS,
    registers,
  });
  const waited = new Histogram({
    name: 'placard_commit_wait_seconds',
    help: 'How long the first of the works that are stored together waited for its turn.',
    buckets: SECONDS,
    registers,
  });
  const committing = new Histogram({
    name: 'placard_commit_seconds',
    help: 'How long the database took to store works together, until they are durable.',
    buckets: SECONDS,
    registers,
  });
  const together = new Histogram({
    name: 'placard_commit_works',
    help: 'How many works were stored together.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    registers,
  });
  const pruned = new Counter({
    name: 'placard_pruned_rows_total',
    help: 'Rows deleted because the workspace keeps them no longer, by workspace and kind.',
    labelNames: ['workspace', 'kind'],
    registers,
  });
  const underWay = new Map<string, { count: number }>();
  new Gauge({
    name: 'placard_store_waiting',
    help: 'Store calls under way or in the queue, by operation.',
    labelNames: ['operation'],
    registers,
    // Told when asked for: a gauge costs more than a number, twice a call.
    collect() {
      for (const [operation, { count }] of underWay) this.labels(operation).set(count);
    },
  });

  const timing = <A extends unknown[], R>(operation: string, call: (...given: A) => Promise<R>) => {
    const histogram = operations.labels(operation);
    const calls = { count: 0 };
    underWay.set(operation, calls);
    return async (...given: A): Promise<R> => {
      const started = performance.now();
      calls.count += 1;
      try {
        return await call(...given);
      } finally {
        calls.count -= 1;
        histogram.observe((performance.now() - started) / 1000);
      }
    };
  };

  return {
    pruned: (workspace: string, kind: string, rows: number) => pruned.labels(workspace, kind).inc(rows),

    /** The same store, with every call timed. */
    timed(store: Store): Store {
      store.onCommit(({ works, waitedMs, writingMs }) => {
        waited.observe(waitedMs / 1000);
        committing.observe(writingMs / 1000);
        together.observe(works);
      });
      return {
        ...store,
        write: timing('write', store.write) as Store['write'],
        readUsers: timing('read_users', store.readUsers),
        bannerUser: timing('banner_user', store.bannerUser),
      };
    },
  };
};
