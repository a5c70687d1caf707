/** Maximum time in the queue. Clients have timed out by then. */
const TIMEOUT_MS = 10_000;
/** Time to report shedding after an item expired. Longer than the interval between two probes of `/readyz`. */
const SHEDDING_MS = 5_000;

/**
 * Creates a FIFO queue that expires items that are not taken in time. The memory budget of request bodies limits its length
 * (`http/body.ts`).
 */
export const createTimeoutQueue = <T>({ expire }: { expire(item: T): void }) => {
  const items: { item: T; since: number }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let expiredAtMs = Number.NEGATIVE_INFINITY;

  const sweep = () => {
    timer = undefined;
    const now = performance.now();
    while (items[0] && items[0].since + TIMEOUT_MS <= now) {
      expiredAtMs = now;
      expire(items.shift()!.item);
    }
    watch();
  };

  const watch = () => {
    const [first] = items;
    if (timer || !first) return;
    const left = Math.max(0, Math.ceil(first.since + TIMEOUT_MS - performance.now()));
    timer = setTimeout(sweep, left).unref();
  };

  return {
    count: () => items.length,
    /** Whether an item has expired within the last five seconds. */
    isShedding: () => performance.now() - expiredAtMs < SHEDDING_MS,

    add(item: T) {
      items.push({ item, since: performance.now() });
      watch();
    },

    /** Removes up to `count` items, oldest first. `waitedMs` is the wait of the oldest item. */
    take(count: number): { items: T[]; waitedMs: number } {
      const taken = items.splice(0, count);
      const waitedMs = taken[0] ? performance.now() - taken[0].since : 0;
      return { items: taken.map(({ item }) => item), waitedMs };
    },
  };
};
