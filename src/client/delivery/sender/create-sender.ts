import { createKeyring } from '../../credentials/keyring.ts';
import { isAhead, MAX_WAIT_MS } from '../../platform/waits.ts';
import type { DeliveryContext } from '../context.ts';
import type { Log } from '../log/log.ts';
import type { Upkeep } from '../log/upkeep.ts';
import type { Unsent } from '../unsent.ts';
import { createTake } from './claim.ts';
import { createCorrection } from './correction.ts';
import { createNext } from './next.ts';
import { createScheduler } from './scheduler.ts';
import { createSendBatch } from './send.ts';
import { createSendLoop } from './send-loop.ts';

/** Wires what gets events out of the log: when to look, what to lease, how to send it, what its answer means. */
export const createSender = (context: DeliveryContext, log: Log, upkeep: Upkeep, unsent: Unsent) => {
  const { api, clock, fail, isWorker, canSend } = context;
  const keyring = createKeyring(api.apiKey, clock.after);

  const wake = (all = false): void => {
    if (!isWorker && canSend()) void run(all);
  };

  /** A sign of life ends a running backoff, once; a wait that the server requested stays. */
  const endBackoffEarly = (): Promise<void> =>
    log.step([], (control) => {
      const { until, endedEarly, reason } = control.wait;
      const isOwnWait = reason === 'backoff' || reason === 'offline';
      if (endedEarly || !isOwnWait || until <= clock.now()) return null;
      control.wait = { ...control.wait, until: clock.now(), endedEarly: true };
      return [];
    });

  const tryAgain = (): Promise<void> =>
    endBackoffEarly().then(
      () => wake(),
      (cause) => fail('storage', 'The log could not be used', cause),
    );

  const onReconnect = (): void => {
    if (!canSend()) return;
    void log.retry();
    void tryAgain();
  };

  const scheduler = createScheduler(context, wake, onReconnect);
  const correction = createCorrection(context, log, unsent.removed, () => wake());
  const batches = createSendBatch(context, log, scheduler, unsent);
  const run = createSendLoop(context, log, keyring, {
    ...scheduler,
    ...batches,
    tidy: upkeep.tidy,
    next: createNext(context, log, batches.limit),
    take: createTake(context, log),
    correct: correction.ask,
  });

  log.subscribe({ onDisk: () => wake() });

  return {
    send: batches.send,
    budgetLeft: batches.budgetLeft,
    limit: batches.limit,
    run,
    decided: correction.decided,
    /** Sends what is due, or with `all` whatever waits, without being waited for. */
    wake,
    onReconnect,
    /** Ends a backoff of its own early, once, and sends what is due. */
    tryAgain,
    /** Events were stored, and stand in the queue: they wait for company, for the service, or no longer. */
    onAppended(): void {
      const { until } = log.lastControl().wait;
      if (isAhead(until, clock.now(), MAX_WAIT_MS)) scheduler.wakeAt(until);
      else {
        scheduler.onAppended();
        if (unsent.size() >= batches.limit()) wake();
      }
    },
    /** The key if it is known without asking: a page that goes away cannot wait. */
    key: keyring.current,
    stop: scheduler.stop,
  };
};

export type Sender = ReturnType<typeof createSender>;
