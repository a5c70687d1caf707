import type { HandOff, WorkerContainer } from './hand-off.ts';
import type { Outbox } from './outbox.ts';
import { createLastFlush } from './sender/last-flush.ts';

/** Chromium throws where a document is sandboxed without `allow-same-origin`: it has no workers. */
const containerOfPage = (): WorkerContainer | undefined => {
  try {
    return globalThis.navigator?.serviceWorker;
  } catch {
    return undefined;
  }
};

/** What a page does when it may not come back: a service worker that outlives it sends the rest, or it does so itself. */
export const createLeaving = ({ context, log, sender }: Outbox) => {
  const lastFlush = createLastFlush(context, log, sender);
  const { api, lifecycle, userTokens, fail, canSend, isStopped, loadHandOff } = context;
  let worker: HandOff | undefined;
  /** Few pages have a service worker. One may take the page over later. */
  const container = containerOfPage();
  const meetWorker = (): void => {
    if (worker || !loadHandOff || !container?.controller) return;
    loadHandOff().then(
      ({ createHandOff }) => {
        if (!isStopped()) worker ??= createHandOff(api.logName, userTokens.isUsed, container);
      },
      // There was a notice. The page flushes by itself.
      () => undefined,
    );
  };
  container?.addEventListener('controllerchange', meetWorker);
  meetWorker();
  /** The last flushes that are not answered yet. */
  let underWay = Promise.resolve(0);

  const leave = (): void => {
    // What lies in this page's memory the worker cannot see.
    if (!log.place.isMemory() && canSend() && worker?.handOff()) return;
    // What a page keeps in memory ends with it, so what was refused or in doubt goes out once more.
    const flushing = log.place.isMemory() ? sender.tryAgain().then(lastFlush) : lastFlush();
    const flushed = Promise.all([underWay, flushing]).then(
      ([before, now]) => before + now,
      (cause) => {
        fail('storage', 'The last flush failed', cause);
        return 0;
      },
    );
    underWay = flushed;
    void flushed.then(() => {
      if (underWay === flushed) underWay = Promise.resolve(0);
    });
  };
  const stops = [lifecycle.on('hidden', leave), lifecycle.on('leave', leave)];

  return {
    leave,
    /** How many events the flushes under way deliver. */
    delivered: () => underWay,
    stop(): void {
      container?.removeEventListener('controllerchange', meetWorker);
      worker?.stop();
      for (const stop of stops) stop();
    },
  };
};

export type Leaving = ReturnType<typeof createLeaving>;
