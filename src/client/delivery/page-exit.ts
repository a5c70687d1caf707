import type { DeliveryContext } from './delivery.ts';
import type { Log } from './log/log.ts';
import { claimKey, eventValue } from './log/records.ts';
import { byTime, planBatches } from './sender/send.ts';
import type { Outbox, Sender } from './sender/sender.ts';
import type { createWorkerHandoff, WorkerContainer, WorkerHandoff } from './worker-handoff.ts';

/** Creates the exit flush, which sends the events that are not in flight when the page exits. */
export const createExitFlush = (
  context: DeliveryContext,
  log: Log,
  { apiKeys, limit, requests, settle }: Sender,
) => {
  const { send, budgetLeft } = requests;
  const { pageId, options, userTokens } = context;

  /**
   * Sends at once, from memory, as keepalive fetches with the most valuable events first. (A beacon has no Authorization header,
   * and its response cannot be read.) Claims are written without waiting, so that a later page knows which events are in doubt.
   * Events over the budget stay stored. Events that may be sent only once also stay, because another tab or page may send them
   * until their claim is written. Resolves with the number of delivered events.
   */
  return async (): Promise<number> => {
    const key = apiKeys.current();
    const others = log.cache.claims().filter((each) => each.pageId !== pageId);
    if (key === undefined || log.findBlock(log.cache.state(), others)) return 0;
    const byValue = log.cache
      .unsent()
      .filter(({ event: { userId, type } }) => {
        const mayRepeat = options.guarantee[type] !== 'at-most-once';
        return mayRepeat && userTokens.isReady(userId) && !userTokens.isPaused(userId);
      })
      .sort((a, b) => eventValue(b.event.type) - eventValue(a.event.type) || byTime(a, b));
    const plan = planBatches(byValue, budgetLeft(), limit(), context);
    if (plan.length === 0) return 0;
    const claimed = plan.map((batch) => log.newClaim(batch, 0));
    // If a claim cannot be written, only its in-doubt mark is lost. The events are stored, and the next page sends them again.
    const written = log.store
      .setMany(claimed.map(({ claim }) => [claimKey(claim.id), claim]))
      .catch(() => undefined);
    // Starts all requests in this task, because the page may not get another task.
    const sent = Promise.all(claimed.map(async (one) => settle(one, await send(one.batch, key, true), key)));
    const [delivered] = await Promise.all([sent, written]);
    return delivered.reduce((sum, count) => sum + count, 0);
  };
};

/** Chromium throws if a document is sandboxed without `allow-same-origin`. */
const getWorkerContainer = (): WorkerContainer | undefined => {
  try {
    return globalThis.navigator?.serviceWorker;
  } catch {
    return undefined;
  }
};

/** Sends the remaining events on page exit, through the service worker if there is one, else with an exit flush. */
export const createPageExit = (
  { context, log, sender }: Outbox,
  loadTrouble: () => Promise<{ createWorkerHandoff: typeof createWorkerHandoff }>,
) => {
  const exitFlush = createExitFlush(context, log, sender);
  const { logName, lifecycle, userTokens, fail, permission } = context;
  let worker: WorkerHandoff | undefined;
  /** Most pages have no service worker. One may take control later. */
  const container = getWorkerContainer();
  const connectWorker = (): void => {
    if (worker || !container?.controller) return;
    loadTrouble().then(
      ({ createWorkerHandoff }) => {
        if (!permission.isStopped()) worker ??= createWorkerHandoff(logName, userTokens.isUsed, container);
      },
      // Already reported as a notice. The page flushes by itself.
      () => undefined,
    );
  };
  container?.addEventListener('controllerchange', connectWorker);
  connectWorker();
  /** Exit flushes without a response yet. */
  let inFlight = Promise.resolve(0);

  const flushOnExit = (): void => {
    // The worker cannot see events in this page's memory.
    if (!log.store.isMemory() && permission.canSend() && worker?.handOff()) return;
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
  const stops = [lifecycle.on('hidden', flushOnExit), lifecycle.on('pagehide', flushOnExit)];

  return {
    flushOnExit,
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
