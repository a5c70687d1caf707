/** Browsers share about 64 KiB over all keepalive requests of a page; the host has some of its own. */
const BUDGET_BYTES = 60_000;
/** Under this the budget is not halved any more: one small batch must always have a chance. */
const MIN_BYTES = 4_000;
/** After a refusal a page that stays does without keepalive for this long. */
const AVOID_MS = 60_000;

/** Counts the keepalive bytes in flight over all our requests of this page. */
export const createKeepaliveBudget = (monotonic: () => number) => {
  let limit = BUDGET_BYTES;
  let used = 0;
  let avoidUntil = Number.NEGATIVE_INFINITY;
  return {
    /**
     * Takes `bytes` if they fit, and returns the function that frees them, or `undefined`. A page that is `leaving` has
     * no other way, any other page does without after a refusal.
     */
    take(bytes: number, leaving: boolean): (() => void) | undefined {
      if (used + bytes > limit || (!leaving && monotonic() < avoidUntil)) return undefined;
      used += bytes;
      let isHeld = true;
      return () => {
        if (isHeld) used -= bytes;
        isHeld = false;
      };
    },
    left: () => limit - used,
    /** The browser refused a request at once: others use the quota too, so ask for half. */
    refused() {
      limit = Math.max(MIN_BYTES, Math.floor(limit / 2));
      avoidUntil = monotonic() + AVOID_MS;
    },
    /** A request came through: ask for more again. */
    recover() {
      limit = Math.min(BUDGET_BYTES, limit * 2);
    },
  };
};

export type KeepaliveBudget = ReturnType<typeof createKeepaliveBudget>;
