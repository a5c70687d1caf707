import { createKeyring, fingerprint, type Keyring } from '../../credentials/keyring.ts';
import { isAhead, MAX_WAIT_MS } from '../../platform/waits.ts';
import type { DeliveryContext } from '../context.ts';
import type { Log } from '../log/log.ts';
import { noWait, type Wait } from '../log/records.ts';
import type { Upkeep } from '../log/upkeep.ts';
import type { Unsent } from '../unsent.ts';
import { createTake } from './claim.ts';
import { type Correction, createCorrection } from './correction.ts';
import { createNext } from './next.ts';
import { createScheduler, type Scheduler } from './scheduler.ts';
import { createSendBatch, type SendBatch } from './send.ts';

/** While the server refuses the key, the host's function is called for another one this often, and at each sign of life. */
const ASK_KEY_MS = 5 * 60_000;
/** When the host's key function fails, or the log, for example because the disk is full. */
const RETRY_MS = 30_000;

/** What the loop does, step by step. */
interface SendSteps extends Pick<Scheduler, 'wakeAt' | 'untilIdle'>, Pick<SendBatch, 'send' | 'giveUp'> {
  /** Comes before the first look at the queue. */
  tidy: () => Promise<void>;
  next: ReturnType<typeof createNext>;
  take: ReturnType<typeof createTake>;
  correct: Correction['ask'];
}

interface Run {
  all: boolean;
  again: boolean;
  delivered: number;
  done: Promise<number>;
}

/** The loop of the one sending tab: claim a batch, send it, settle it, until nothing is due. */
export const createSendLoop = (context: DeliveryContext, log: Log, keyring: Keyring, steps: SendSteps) => {
  const { clock, userTokens, notify, fail, canSend } = context;
  const { tidy, next, take, send, giveUp, correct, wakeAt, untilIdle } = steps;
  let running: Run | undefined;
  let announcedUntil = 0;

  /** The key to send with, or `undefined` while there is none. */
  const usableKey = async (): Promise<string | undefined> => {
    if (log.lastControl().refusedKey !== null) keyring.forget();
    try {
      return await keyring.ask();
    } catch (cause) {
      fail('config', 'apiKey() failed: sending waits', cause);
      wakeAt(clock.now() + RETRY_MS);
      return undefined;
    }
  };

  /** A new key ends the wait that the old one caused, for all tabs. */
  const endWait = async (key: string): Promise<boolean> => {
    if (fingerprint(key) === log.lastControl().refusedKey) return false;
    await log.step([], (control) => {
      control.refusedKey = null;
      control.wait = noWait();
      return [];
    });
    return true;
  };

  /** Notifies the host of each wait once. */
  const announce = ({ until, reason }: Wait): void => {
    if (announcedUntil !== until) notify({ type: 'waiting', untilMs: until, reason });
    announcedUntil = until;
  };

  /** Does the next thing; false when there is nothing left to do now. */
  const step = async (run: Run): Promise<boolean> => {
    if (!canSend()) return false;
    const key = await usableKey();
    if (key === undefined) return false;
    const action = await next(run.all);
    if (!canSend()) return false;
    switch (action.type) {
      case 'send': {
        const taken = await take(action.batch);
        if (taken.type === 'sending') run.delivered += await send(taken.sending, key);
        return true;
      }
      case 'token':
        await userTokens.ask(action.userId);
        return true;
      case 'over':
        await giveUp(action.claim);
        return true;
      case 'correct':
        await correct(action.kept);
        return true;
      case 'busy':
        if (!run.all) {
          wakeAt(action.until);
          return false;
        }
        await untilIdle(action.until);
        return true;
      case 'waiting': {
        const { until, reason } = action.wait;
        const isRefused = reason === 'unauthorized';
        if (isRefused && (await endWait(key))) return true;
        wakeAt(isRefused ? Math.min(until, clock.now() + ASK_KEY_MS) : until);
        announce(action.wait);
        return false;
      }
      case 'nothing':
        wakeAt(action.due);
        return false;
    }
  };

  const work = async (run: Run): Promise<number> => {
    // The caller can still change this run before its first step.
    await Promise.resolve();
    try {
      do {
        run.again = false;
        await tidy();
        while (await step(run));
      } while (run.again && canSend());
    } catch (cause) {
      fail('storage', 'The log could not be used', cause);
      wakeAt(clock.now() + RETRY_MS);
    } finally {
      running = undefined;
    }
    return run.delivered;
  };

  /** Sends what is due, or with `all` whatever waits. Calls during a run share it; returns how many were delivered. */
  return (all: boolean): Promise<number> => {
    if (running !== undefined) {
      // The run may have looked for the last time already; one more look costs no request.
      running.again = true;
      running.all ||= all;
      return running.done;
    }
    const run: Run = { all, again: false, delivered: 0, done: Promise.resolve(0) };
    running = run;
    run.done = work(run);
    return run.done;
  };
};

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
