import type { Clock } from '../platform/clock.ts';
import { LEASE_MS } from '../platform/deadline.ts';
import type { Ledger } from './ledger.ts';

/** Often enough that one late renewal loses nothing. */
const RENEW_MS = 3_000;
/** How long after another tab's lease this one tries. */
export const SUCCESSOR_MS = 50;

export interface SenderLeaseOptions {
  tab: string;
  clock: Clock;
  ledger: Ledger;
  /** This tab sends no more. */
  onIdle: () => void;
}

/**
 * The mark that says which tab sends. It is a record with an end, not a lock: a Web Lock that is held keeps a page out
 * of the back/forward cache, and the transactions that take it are one after the other over all tabs anyway.
 */
export const createSenderLease = ({ tab, clock, ledger, onIdle }: SenderLeaseOptions) => {
  const idleWaiters = new Set<() => void>();

  const untilIdle = (until: number): Promise<void> =>
    new Promise((resolve) => {
      const wake = () => {
        idleWaiters.delete(wake);
        cancel();
        resolve();
      };
      const cancel = clock.after(Math.max(0, until - clock.now()) + SUCCESSOR_MS, wake);
      idleWaiters.add(wake);
    });

  /** Says that this tab still sends, while a request is under way. */
  const renew = (): (() => void) => {
    let cancel: () => void = () => undefined;
    let isOver = false;
    const next = () => {
      cancel = clock.after(RENEW_MS, async () => {
        try {
          await ledger.step([], (meta) => {
            if (meta.sender?.tab !== tab) return null;
            meta.sender.until = clock.now() + LEASE_MS;
            return { writes: [], result: true };
          });
        } catch {
          // The lease then ends by itself, and the batch's own lease still keeps others from sending it.
        }
        if (!isOver) next();
      });
    };
    next();
    return () => {
      isOver = true;
      cancel();
    };
  };

  const release = async (): Promise<void> => {
    if (ledger.known()?.sender?.tab === tab) {
      await ledger.step([], (meta) => {
        if (meta.sender?.tab !== tab) return null;
        meta.sender = null;
        return { writes: [], result: true };
      });
    }
    onIdle();
  };

  return {
    untilIdle,
    renew,
    release,
    /** Another tab stopped sending. */
    othersIdle() {
      for (const wake of [...idleWaiters]) wake();
    },
  };
};
