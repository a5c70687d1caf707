const MINUTE_MS = 60_000;
/** Causes that are remembered at once. Requests can make up more: those are not logged. */
const MAX_CAUSES = 1_000;

/** Returns whether a cause may be logged now: once a minute for each, whatever a client sends and however often. */
export const createOnceAMinute = () => {
  const loggedAtMs = new Map<string, number>();
  // Either way: a clock that was put back must not silence a cause for longer.
  const isRecent = (atMs: number, nowMs: number) => Math.abs(nowMs - atMs) < MINUTE_MS;

  return (cause: string, nowMs: number): boolean => {
    const last = loggedAtMs.get(cause);
    if (last !== undefined && isRecent(last, nowMs)) return false;
    if (loggedAtMs.size >= MAX_CAUSES) {
      for (const [other, atMs] of loggedAtMs) if (!isRecent(atMs, nowMs)) loggedAtMs.delete(other);
      if (loggedAtMs.size >= MAX_CAUSES) return false;
    }
    loggedAtMs.set(cause, nowMs);
    return true;
  };
};
