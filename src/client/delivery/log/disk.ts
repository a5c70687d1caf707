import type { Clock } from '../../platform/clock.ts';
import type { PageLifecycle } from '../../platform/page-lifecycle.ts';
import { afterTimeout } from '../../platform/pauses.ts';
import type { Store } from '../../platform/store.ts';

export interface InMemory {
  type: 'memory';
  store: Store;
  /**
   * Deletion that is due on the disk before memory is moved there, because the user requested it while the disk was
   * unavailable.
   */
  pendingDeletion?: 'everything' | 'queue';
}

/** A request that was pending on the return from the back/forward cache counts as lost after this time (Firefox). */
const LOST_MS = 1_000;
/** Timeout of a request. A slow disk or another tab may delay a transaction for a while. */
const HANG_MS = 10_000;

/**
 * Runs requests to the disk. While the page is in the back/forward cache, no request with a response begins, because a
 * transaction that reads before it writes would stay open with its lock held, and the browser evicts a page that blocks another
 * one. A write without a read is sent at once; all others wait for the page's return.
 *
 * Firefox 153 never settles a request that began as the page entered the cache. After the return, a read is repeated. A write
 * without a read counts as done, since a second one might restore what others have removed; if it fails after all, it is
 * repeated. In an active page, a request that times out rejects.
 */
export const createDisk = (store: Store, lifecycle: PageLifecycle, after: Clock['after']) => {
  let untilRestored: Promise<void> | undefined;
  let wake: () => void = () => undefined;
  /** Pending requests: maps the function that abandons the request to the function that cancels its timeout. */
  const pending = new Map<() => void, () => void>();
  const stops = [
    lifecycle.on('pagehide', () => {
      untilRestored ??= new Promise((resolve) => {
        wake = resolve;
      });
    }),
    lifecycle.on('restored', () => {
      const former = [...pending.keys()];
      after(LOST_MS, () => {
        for (const giveUp of former) if (pending.delete(giveUp)) giveUp();
      });
      wake();
      untilRestored = undefined;
    }),
  ];

  const runTracked = <T>(work: (store: Store) => Promise<T>, ifLost?: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      const attempt = (): void => {
        let isLost = false;
        const abandon = (): void => {
          isLost = true;
          if (ifLost) resolve(ifLost());
          else attempt();
        };
        const onError = (error: unknown): void => {
          if (!isLost) reject(error);
          // The write counted as done and failed after all, so it is repeated.
          else if (ifLost) attempt();
        };
        const cancel = afterTimeout(after, HANG_MS, () => {
          if (!untilRestored && pending.delete(abandon)) reject(new Error('Timed out'));
        });
        pending.set(abandon, cancel);
        void work(store)
          .then(resolve, onError)
          .finally(() => {
            pending.delete(abandon);
            cancel();
          });
      };
      attempt();
    });

  return {
    /** `ifLost`, only for a write without a read, returns the value that replaces a lost response. */
    async request<T>(work: (store: Store) => Promise<T>, ifLost?: () => T): Promise<T> {
      if (untilRestored && !ifLost) await untilRestored;
      return runTracked(work, ifLost);
    },
    close(): void {
      for (const stop of stops) stop();
      wake();
      untilRestored = undefined;
    },
  };
};

export type Disk = ReturnType<typeof createDisk>;
