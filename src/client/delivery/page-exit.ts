import type { Outbox } from './outbox.ts';
import { createExitFlush } from './sender/exit-flush.ts';
import type { WorkerContainer, WorkerHandoff } from './worker-handoff.ts';

/** Chromium throws if a document is sandboxed without `allow-same-origin`. */
const getWorkerContainer = (): WorkerContainer | undefined => {
  try {
    return globalThis.navigator?.serviceWorker;
  } catch {
    return undefined;
  }
};

/** Sends the remaining events on page exit, through the service worker if there is one, else with an exit flush. */
export const createPageExit = ({ context, log, sender }: Outbox) => {
  const exitFlush = createExitFlush(context, log, sender);
  const { api, lifecycle, userTokens, fail, canSend, isStopped, loadHandoff } = context;
  let worker: WorkerHandoff | undefined;
  /** Most pages have no service worker. One may take control later. */
  const container = getWorkerContainer();
  const connectWorker = (): void => {
    if (worker || !loadHandoff || !container?.controller) return;
    loadHandoff().then(
      ({ createWorkerHandoff }) => {
        if (!isStopped()) worker ??= createWorkerHandoff(api.logName, userTokens.isUsed, container);
      },
      // Already reported as a notice. The page flushes by itself.
      () => undefined,
    );
  };
  container?.addEventListener('controllerchange', connectWorker);
  connectWorker();
  /** Exit flushes without a response yet. */
  let inFlight = Promise.resolve(0);

  const leave = (): void => {
    // The worker cannot see events in this page's memory.
    if (!log.store.isMemory() && canSend() && worker?.handOff()) return;
    // Events in memory end with the page, so rejected and in-doubt ones are sent once more.
    const flushing = log.store.isMemory() ? sender.tryAgain().then(exitFlush) : exitFlush();
    const flushed = Promise.all([inFlight, flushing]).then(
      ([before, now]) => before + now,
      (cause) => {
        fail('storage', 'The last flush failed', cause);
        return 0;
      },
    );
    inFlight = flushed;
    void flushed.then(() => {
      if (inFlight === flushed) inFlight = Promise.resolve(0);
    });
  };
  const stops = [lifecycle.on('hidden', leave), lifecycle.on('pagehide', leave)];

  return {
    leave,
    /** Resolves with the number of events that the pending flushes deliver. */
    delivered: () => inFlight,
    stop(): void {
      container?.removeEventListener('controllerchange', connectWorker);
      worker?.stop();
      for (const stop of stops) stop();
    },
  };
};

export type PageExit = ReturnType<typeof createPageExit>;
