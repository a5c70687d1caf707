/** More than this are not kept waiting: the first of a long queue would be answered late. */
const MAX_WAITING = 64;

/**
 * Runs jobs together once all that came in this turn of the event loop was worked on. For writes to sockets: the first
 * wakes the reader at the other end, which is what a write costs most, and the others find it awake.
 */
export const createEndOfTurn = () => {
  let jobs: (() => void)[] = [];
  let isScheduled = false;

  const run = () => {
    const due = jobs;
    jobs = [];
    for (const job of due) job();
  };

  /** A job must not throw. */
  return (job: () => void): void => {
    jobs.push(job);
    if (jobs.length >= MAX_WAITING) run();
    else if (!isScheduled) {
      isScheduled = true;
      setImmediate(() => {
        isScheduled = false;
        run();
      });
    }
  };
};
