import { createHandOff } from './hand-off.ts';
import { createLastFlush, type LastFlushOptions } from './last-flush.ts';

export interface LeavingOptions extends LastFlushOptions {
  onFailed: (cause: unknown) => void;
}

/** What a page does when it may not come back: a service worker that outlives it sends the rest, or it does so itself. */
export const createLeaving = (options: LeavingOptions) => {
  const { log, page, isAllowed, onFailed } = options;
  const worker = createHandOff(page.name);
  const lastFlush = createLastFlush(options);
  /** The last flushes whose answers are out. */
  let underWay = Promise.resolve(0);

  const leave = (): void => {
    // What lies in this page's memory the worker cannot see.
    if (!log.isMemory() && isAllowed() && worker.handOff()) return;
    const flushed = Promise.all([underWay, lastFlush()]).then(
      ([before, now]) => before + now,
      (cause) => {
        onFailed(cause);
        return 0;
      },
    );
    underWay = flushed;
    void flushed.then(() => {
      if (underWay === flushed) underWay = Promise.resolve(0);
    });
  };
  const stops = [page.lifecycle.on('hidden', leave), page.lifecycle.on('leave', leave)];

  return {
    leave,
    /** How many events the flushes under way deliver. */
    delivered: () => underWay,
    stop(): void {
      worker.stop();
      for (const stop of stops) stop();
    },
  };
};
