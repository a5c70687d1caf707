import { createKeyring } from '../../platform/keyring.ts';
import type { Api, DeliveryHost } from '../delivery.ts';
import { createKeepaliveBudget, createPostTrack } from '../http/index.ts';
import type { Log, Upkeep } from '../log/index.ts';
import type { DeliveryPage } from '../page.ts';
import { createCorrection } from './correction.ts';
import { createLeaseNext } from './lease-next.ts';
import { createScheduler } from './scheduler.ts';
import { createSendBatch, type SenderQueue } from './send-batch.ts';
import { createSendLoop } from './send-loop.ts';
import { createSettle } from './settle.ts';

export interface SenderOptions {
  log: Log;
  upkeep: Upkeep;
  page: DeliveryPage;
  api: Api;
  host: DeliveryHost;
  /** Whether this tab may send at all now. */
  isAllowed: () => boolean;
  queue: SenderQueue;
}

/** Wires what gets events out of the log: when to look, what to lease, how to send it, what its answer means. */
export const createSender = (options: SenderOptions) => {
  const { log, upkeep, page, api, host, isAllowed, queue } = options;
  const { clock, fail, isWorker } = page;
  const keyring = createKeyring(api.apiKey, clock.after);
  const budget = createKeepaliveBudget(clock.monotonic);

  const look = (all = false): void => {
    if (!isWorker && isAllowed()) void loop.run(all);
  };

  /** A sign of life ends a running backoff, once; what the server asked for stays. */
  const ease = (): Promise<void> =>
    log.step([], (control) => {
      const { until, eased, reason } = control.wait;
      const isOwnWait = reason === 'backoff' || reason === 'offline';
      if (eased || !isOwnWait || until <= clock.now()) return null;
      control.wait = { ...control.wait, until: clock.now(), eased: true };
      return [];
    });

  const awake = (): void => {
    if (!isAllowed()) return;
    log.retry();
    void ease().then(
      () => look(),
      (cause) => fail('The log could not be used', cause),
    );
  };

  const scheduler = createScheduler({ page, onDue: look, onSign: awake });
  const batches = createSendBatch({
    page,
    post: createPostTrack(api.endpoint, api.fetch ?? ((input, init) => globalThis.fetch(input, init))),
    budget,
    settle: createSettle(log, page, isWorker || host.correct !== undefined),
    scheduler,
    onDelivered: host.onDelivered,
    queue,
  });
  const loop = createSendLoop({
    log,
    page,
    keyring,
    leaseNext: createLeaseNext({
      log,
      page,
      maxBatch: batches.limit,
      isAllowed,
      isHeld: queue.isHeld,
      asksHost: !isWorker,
    }),
    batches,
    scheduler,
    tasks: {
      isAllowed,
      tidy: upkeep.tidy,
      correct: isWorker
        ? async () => undefined
        : createCorrection({ log, page, correct: host.correct, onGone: queue.gone }),
    },
  });

  return {
    run: loop.run,
    look,
    awake,
    send: batches.send,
    abortAll: batches.abortAll,
    limit: batches.limit,
    added: scheduler.added,
    lookAt: scheduler.at,
    /** The key if it is known without asking: a page that goes away cannot wait. */
    key: keyring.current,
    budgetLeft: budget.left,
    stop: scheduler.stop,
  };
};

export type Sender = ReturnType<typeof createSender>;
