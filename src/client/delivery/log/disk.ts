import type { Clock } from '../../platform/clock.ts';
import type { PageLifecycle } from '../../platform/page-lifecycle.ts';
import type { Store } from '../../platform/store.ts';
import { afterTimeout } from '../../platform/waits.ts';

/** The log while it is not on disk. */
export interface InMemory {
  type: 'memory';
  store: Store;
  /** What has to be deleted on the disk before memory goes there: the user asked for it while the disk did not answer. */
  owed?: 'everything' | 'queue';
}

/** Firefox never answers a request that has no answer so long after the page's return from the back/forward cache. */
const ANSWER_MS = 1_000;
/** How long a page that stays waits for an answer: a slow disk or another tab may hold a transaction up for a while. */
const HANG_MS = 10_000;

/**
 * Asks the disk. While the page is in the back/forward cache nothing begins that needs an answer: a transaction that reads
 * before it writes would stay open with its lock held, and the browser evicts a page that blocks another one. A blind write
 * still goes; everything else waits for the page's return.
 *
 * Firefox 153 never answers what was begun as the page went there: it neither succeeds nor fails. After the return a read
 * is begun again; a blind write counts as done, since a second one might bring back what others have removed. Where it fails
 * after all, it is written again. In a page that stays, what is not answered in time rejects.
 */
export const createDisk = (store: Store, lifecycle: PageLifecycle, after: Clock['after']) => {
  let untilRestored: Promise<void> | undefined;
  let wake: () => void = () => undefined;
  /** The requests without an answer: each by the function that gives it up, with the one that cancels its timeout. */
  const unanswered = new Map<() => void, () => void>();
  const stops = [
    lifecycle.on('leave', () => {
      untilRestored ??= new Promise((resolve) => {
        wake = resolve;
      });
    }),
    lifecycle.on('restored', () => {
      const former = [...unanswered.keys()];
      after(ANSWER_MS, () => {
        for (const giveUp of former) if (unanswered.delete(giveUp)) giveUp();
      });
      wake();
      untilRestored = undefined;
    }),
  ];

  const answered = <T>(work: (store: Store) => Promise<T>, ifLost?: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      const attempt = (): void => {
        let isLost = false;
        const giveUp = (): void => {
          isLost = true;
          if (ifLost) resolve(ifLost());
          else attempt();
        };
        const onError = (error: unknown): void => {
          if (!isLost) reject(error);
          // The write was taken for done and has failed after all, so it is made again.
          else if (ifLost) attempt();
        };
        const cancel = afterTimeout(after, HANG_MS, () => {
          if (!untilRestored && unanswered.delete(giveUp)) reject(new Error('No answer'));
        });
        unanswered.set(giveUp, cancel);
        void work(store)
          .then(resolve, onError)
          .finally(() => {
            unanswered.delete(giveUp);
            cancel();
          });
      };
      attempt();
    });

  return {
    /** `ifLost`: for a blind write, which depends on nothing that is stored; returns what stands in for a lost answer. */
    async ask<T>(work: (store: Store) => Promise<T>, ifLost?: () => T): Promise<T> {
      if (untilRestored && !ifLost) await untilRestored;
      return answered(work, ifLost);
    },
    close(): void {
      for (const stop of stops) stop();
      wake();
      untilRestored = undefined;
    },
  };
};

export type Disk = ReturnType<typeof createDisk>;
