import { createWaiting } from '../../waiting.ts';
import type { Commit } from '../store.ts';

/** Runs what waits in batches, a few at a time: all that came while the batches before were under way makes the next. */
export const createBatcher = <T>(options: {
  /** Batches that may run at once. */
  lanes: number;
  /** Items a batch may hold. */
  most: number;
  /** Settles every item itself and never rejects. */
  run(items: T[]): Promise<void>;
  /** Hears of each that has waited too long. */
  refuse(item: T): void;
  onBatch(batch: Commit): void;
}) => {
  const { lanes, most, run, refuse, onBatch } = options;
  const waiting = createWaiting({ refuse });
  let running = 0;
  let scheduled = false;

  const start = () => {
    scheduled = false;
    while (waiting.count() > 0 && running < lanes) {
      // What waits is shared out, so that the lanes work side by side.
      const share = Math.min(most, Math.ceil(waiting.count() / (lanes - running)));
      const { items, waitedMs } = waiting.take(share);
      const started = performance.now();
      running += 1;
      void run(items).then(() => {
        onBatch({ works: items.length, waitedMs, writingMs: performance.now() - started });
        running -= 1;
        start();
      });
    }
  };

  return {
    isRefusing: waiting.isRefusing,
    add(item: T) {
      waiting.add(item);
      if (scheduled || running >= lanes) return;
      scheduled = true;
      setImmediate(start);
    },
  };
};
