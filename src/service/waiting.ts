/** Who asked has given up after a while, and what is done then was not waited for. */
const PATIENCE_MS = 10_000;
/** A balancer looks every few seconds. */
const TOLD_MS = 5_000;

/**
 * What waits for its turn: so long, and no longer. How much of it there is, the gate bounds. What `refuse` hears of was not
 * begun and never will be.
 */
export const createWaiting = <T>({
  refuse,
  patienceMs = PATIENCE_MS,
}: {
  refuse(item: T): void;
  patienceMs?: number | undefined;
}) => {
  const waiting: { item: T; since: number }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let refusedAt = Number.NEGATIVE_INFINITY;

  const sweep = () => {
    timer = undefined;
    const now = performance.now();
    while (waiting[0] && waiting[0].since + patienceMs <= now) {
      refusedAt = now;
      refuse(waiting.shift()!.item);
    }
    watch();
  };

  const watch = () => {
    const [first] = waiting;
    if (timer || !first) return;
    // Where the process stood still, it is over.
    const left = Math.max(0, Math.ceil(first.since + patienceMs - performance.now()));
    timer = setTimeout(sweep, left).unref();
  };

  return {
    count: () => waiting.length,
    /** Whether anything was refused in the last seconds. */
    isRefusing: () => performance.now() - refusedAt < TOLD_MS,

    add(item: T) {
      waiting.push({ item, since: performance.now() });
      watch();
    },

    /** Those who have waited longest, and how long the first of them has. */
    take(count: number): { items: T[]; waitedMs: number } {
      const taken = waiting.splice(0, count);
      const waitedMs = taken[0] ? performance.now() - taken[0].since : 0;
      return { items: taken.map(({ item }) => item), waitedMs };
    },
  };
};
