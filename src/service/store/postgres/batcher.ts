import type { Commit } from '../store.ts';

/** Runs what waits in batches, a few at a time: all that came while the batches before were under way makes the next. */
export const createBatcher = <T>(options: {
  /** Batches that may run at once. */
  lanes: number;
  /** Items a batch may hold. */
  most: number;
  /** Settles every item itself and never rejects. */
  run(items: T[]): Promise<void>;
  onBatch(batch: Commit): void;
}) => {
  const { lanes, most, run, onBatch } = options;
  const waiting: { item: T; since: number }[] = [];
  let running = 0;
  let scheduled = false;

  const start = () => {
    scheduled = false;
    while (waiting.length > 0 && running < lanes) {
      // What waits is shared out, so that the lanes work side by side.
      const share = Math.min(most, Math.ceil(waiting.length / (lanes - running)));
      const items = waiting.splice(0, share);
      const started = performance.now();
      const waitedMs = started - items[0]!.since;
      running += 1;
      void run(items.map(({ item }) => item)).then(() => {
        onBatch({ works: items.length, waitedMs, writingMs: performance.now() - started });
        running -= 1;
        start();
      });
    }
  };

  return {
    add(item: T) {
      waiting.push({ item, since: performance.now() });
      if (scheduled || running >= lanes) return;
      scheduled = true;
      setImmediate(start);
    },
  };
};
