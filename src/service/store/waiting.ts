/** After this time clients have given up waiting for an answer. */
const TIMEOUT_MS = 10_000;
/** Longer than a load balancer waits between two looks at `/readyz`. */
const REFUSING_MS = 5_000;

/**
 * Items that wait for their turn, until a timeout. The bytes of bodies in work bound how many there are (`http/body.ts`). An item that `refuse` receives was
 * not begun and never will be.
 */
export const createWaiting = <T>({
  refuse,
  timeoutMs = TIMEOUT_MS,
}: {
  refuse(item: T): void;
  timeoutMs?: number | undefined;
}) => {
  const waiting: { item: T; since: number }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let refusedAt = Number.NEGATIVE_INFINITY;

  const sweep = () => {
    timer = undefined;
    const now = performance.now();
    while (waiting[0] && waiting[0].since + timeoutMs <= now) {
      refusedAt = now;
      refuse(waiting.shift()!.item);
    }
    watch();
  };

  const watch = () => {
    const [first] = waiting;
    if (timer || !first) return;
    // Where the process stood still, the time is over.
    const left = Math.max(0, Math.ceil(first.since + timeoutMs - performance.now()));
    timer = setTimeout(sweep, left).unref();
  };

  return {
    count: () => waiting.length,
    /** Whether anything was refused in the last seconds. */
    isRefusing: () => performance.now() - refusedAt < REFUSING_MS,

    add(item: T) {
      waiting.push({ item, since: performance.now() });
      watch();
    },

    /** Those that have waited longest, and how long the first of them has. */
    take(count: number): { items: T[]; waitedMs: number } {
      const taken = waiting.splice(0, count);
      const waitedMs = taken[0] ? performance.now() - taken[0].since : 0;
      return { items: taken.map(({ item }) => item), waitedMs };
    },
  };
};
