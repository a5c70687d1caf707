import type { Clock } from './clock.ts';
import type { PageLifecycle } from './page-lifecycle.ts';
import type { Store } from './store.ts';
import { afterTimeout } from './timeout.ts';

/** What has not answered so long after the return never will. */
const ANSWER_MS = 1_000;
/** In a page that stays, a slow disk or another tab may keep a transaction waiting for a while. */
const HANG_MS = 10_000;

/**
 * A store that begins nothing which needs an answer while the page is in the back/forward cache. A transaction that reads
 * before it writes would stay open there with its lock held, and the browser evicts a page that blocks another one. A
 * blind write (`setMany`) still goes; everything else waits for the page's return.
 *
 * Firefox 153 never answers what was begun as the page went there: it neither succeeds nor fails. After the return a read
 * is begun again; a blind write counts as done, since a second one might bring back what others have removed. Where it fails
 * after all, it is written again. In a page that stays, what is not answered in time rejects.
 */
export const createBfcacheSafeStore = (
  store: Store,
  lifecycle: PageLifecycle,
  after: Clock['after'],
): Store & { close(): void } => {
  let untilRestored: Promise<void> | undefined;
  let wake: () => void = () => undefined;
  /** What to do where the answer is lost. */
  const unanswered = new Set<() => void>();
  const stops = [
    lifecycle.on('leave', () => {
      untilRestored ??= new Promise((resolve) => {
        wake = resolve;
      });
    }),
    lifecycle.on('restored', () => {
      const former = [...unanswered];
      after(ANSWER_MS, () => {
        for (const giveUp of former) if (unanswered.delete(giveUp)) giveUp();
      });
      wake();
      untilRestored = undefined;
    }),
  ];

  const answered = <T>(ask: () => Promise<T>, isBlind: boolean): Promise<T> =>
    new Promise((resolve, reject) => {
      const attempt = (): void => {
        let isLost = false;
        const giveUp = (): void => {
          isLost = true;
          if (isBlind) resolve(undefined as T);
          else attempt();
        };
        const onError = (error: unknown): void => {
          if (!isLost) reject(error);
          // It was taken for done, and nothing of it is there.
          else if (isBlind) attempt();
        };
        unanswered.add(giveUp);
        const cancel = afterTimeout(after, HANG_MS, () => {
          if (!untilRestored && unanswered.delete(giveUp)) reject(new Error('No answer'));
        });
        void ask()
          .then(resolve, onError)
          .finally(() => {
            unanswered.delete(giveUp);
            cancel();
          });
      };
      attempt();
    });
  const read = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (untilRestored) await untilRestored;
    return answered(ask, false);
  };
  const write = (ask: () => Promise<void>): Promise<void> => answered(ask, true);

  return {
    entries: (range) => read(() => store.entries(range)),
    get: (key) => read(() => store.get(key)),
    setMany: (records) => write(() => store.setMany(records)),
    async deleteMany(keys) {
      if (untilRestored) await untilRestored;
      return write(() => store.deleteMany(keys));
    },
    update: (keys, change) => read(() => store.update(keys, change)),
    async clear() {
      if (untilRestored) await untilRestored;
      return write(() => store.clear());
    },
    close() {
      for (const stop of stops) stop();
      wake();
    },
  };
};
