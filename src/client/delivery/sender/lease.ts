import { LEASE_MS } from '../../platform/deadline.ts';
import type { Log } from '../log/index.ts';
import type { DeliveryPage } from '../page.ts';

/** Often enough that one late renewal loses nothing. */
const RENEW_MS = 3_000;
/** How long after another tab's lease this one tries. */
export const SUCCESSOR_MS = 50;

/**
 * The mark that says which tab sends. It is a record with an end, not a lock: a Web Lock that is held keeps a page out
 * of the back/forward cache, and the transactions that take it are one after the other over all tabs anyway.
 */
export const createLease = (log: Log, { tab, clock, news }: DeliveryPage) => {
  const waiters = new Set<() => void>();

  const whileOurs = (until: number | null): Promise<void> =>
    log.step([], (control) => {
      if (control.sender?.tab !== tab) return null;
      control.sender = until === null ? null : { tab, until };
      return [];
    });

  news.subscribe(({ type }) => {
    if (type === 'idle') for (const wake of [...waiters]) wake();
  });

  return {
    /** Resolves when the tab that sends has stopped, at `until` at the latest. */
    untilFree: (until: number): Promise<void> =>
      new Promise((resolve) => {
        const wake = () => {
          waiters.delete(wake);
          cancel();
          resolve();
        };
        const cancel = clock.after(Math.max(0, until - clock.now()) + SUCCESSOR_MS, wake);
        waiters.add(wake);
      }),

    /** Says that this tab still sends, until the returned function is called. */
    renew(): () => void {
      let cancel: () => void = () => undefined;
      let isOver = false;
      const next = () => {
        cancel = clock.after(RENEW_MS, () => {
          // Where that fails the lease ends by itself, and the batch's own keeps others from sending it.
          void whileOurs(clock.now() + LEASE_MS)
            .catch(() => undefined)
            .then(() => isOver || next());
        });
      };
      next();
      return () => {
        isOver = true;
        cancel();
      };
    },

    async release(): Promise<void> {
      if (log.known().sender?.tab === tab) await whileOurs(null);
      news.post({ type: 'idle' });
    },
  };
};
