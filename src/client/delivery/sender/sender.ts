import { createKeyring, fingerprint } from '../../credentials/credentials.ts';
import { onReturn } from '../../platform/page-lifecycle.ts';
import { endEarly, isPausing, noPause } from '../../platform/waits.ts';
import type { DeliveryContext } from '../delivery.ts';
import type { Log } from '../log/log.ts';
import { isQuota } from '../log/log-store.ts';
import type { Upkeep } from '../log/upkeep.ts';
import { createBatchSize } from './batches.ts';
import { createNext, createTake } from './claim.ts';
import type { Correction } from './correction.ts';
import { createLastFlush } from './last-flush.ts';
import { createSend, noAnswer } from './send.ts';
import { createSettle } from './settle.ts';

/** While the server refuses the key, the host's function is called for another one this often, and at each sign of life. */
const ASK_KEY_MS = 5 * 60_000;
/** The sender looks again after this time where the host's key function or the log has failed. */
const RETRY_MS = 30_000;
/** How long a page whose CORS preflight is cold waits for a pause before it sends the first events early. */
const COLD_QUIET_MS = 250;

interface Run {
  all: boolean;
  again: boolean;
  /** The disk has refused a write since this run began. */
  isFull: boolean;
  delivered: number;
  done: Promise<number>;
}

/**
 * Gets events out of the log: claims a batch, sends it, settles it, until nothing is due. Events wait `maxWaitMs` for company, with one
 * exception: while no request went out lately the first ones leave at the first pause, so that the last flush of the page finds the
 * preflight answered.
 */
export const createSender = (context: DeliveryContext, log: Log, upkeep: Upkeep, correction: Correction) => {
  const { api, clock, lifecycle, userTokens, news, notify, fail, isWorker, canSend, isStopped } = context;
  const { maxWaitMs } = context.options;
  const keyring = createKeyring(api.apiKey, clock.after);
  const size = createBatchSize(context);
  const next = createNext(context, log, size.limit);
  const take = createTake(context, log);
  const requests = createSend(context, log);
  const settle = createSettle(context, log);
  let running: Run | undefined;
  let announcedUntil = 0;
  /** By the monotonic clock: one that is set ahead must not leave what is due to a timer of before. */
  let timerAt = Number.POSITIVE_INFINITY;
  let cancelTimer: () => void = () => undefined;
  let cancelQuiet: () => void = () => undefined;
  /** Ends the wait for another tab. */
  let endIdle: () => void = () => undefined;

  /** Sends what is due, or with `all` also what waits for company. Nobody waits for the outcome. */
  const wake = (all = false): void => {
    if (!isWorker && canSend()) void run(all);
  };

  /** Looks again at `time` (Unix milliseconds), or earlier where an earlier look is due. */
  const wakeAt = (time: number): void => {
    const delayMs = Math.max(0, time - clock.now());
    const at = clock.monotonic() + delayMs;
    if (isStopped() || at >= timerAt) return;
    cancelTimer();
    timerAt = at;
    cancelTimer = clock.after(delayMs, () => {
      timerAt = Number.POSITIVE_INFINITY;
      wake();
    });
  };

  /** Resolves when the tab that sends has an answer, at `time` at the latest. */
  const untilIdle = (time: number): Promise<void> =>
    new Promise((resolve) => {
      const stop = news.subscribe(({ type }) => type === 'idle' && endIdle());
      const cancel = clock.after(Math.max(0, time - clock.now()), () => endIdle());
      endIdle = () => {
        stop();
        cancel();
        resolve();
      };
    });

  /** The key to send with, or `undefined` while there is none. While the server refuses the key, the host is asked for another one each time. */
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

  /** A new key ends the pause that the old one caused, for all tabs. */
  const endRefusal = async (key: string): Promise<boolean> => {
    if (fingerprint(key) === log.lastControl().refusedKey) return false;
    await log.step([], (control) => {
      control.refusedKey = null;
      control.wait = noPause();
      return [];
    });
    return true;
  };

  /** Does the next thing; false when there is nothing left to do now. */
  const doNext = async (run: Run): Promise<boolean> => {
    if (!canSend()) return false;
    const key = await usableKey();
    if (key === undefined) return false;
    const todo = await next(run.all, run.isFull);
    if (!canSend()) return false;
    switch (todo.type) {
      case 'send': {
        const claimed = await take(todo.batch);
        if (claimed === undefined) return true;
        const outcome = await requests.send(claimed.batch, key, false);
        size.learn(claimed.batch.length, outcome);
        run.delivered += await settle(claimed, outcome, key);
        return true;
      }
      case 'over':
        // The page that sent it is gone. That says nothing about the network, so there is no pause.
        await settle({ claim: todo.claim, batch: [] }, noAnswer(new Error('its page is gone')), '');
        return true;
      case 'token':
        await userTokens.ask(todo.userId);
        return true;
      case 'correct':
        void (await correction.ask(todo.skipped)).decided.then(() => wake());
        return true;
      case 'busy':
        if (run.all) await untilIdle(todo.until);
        else wakeAt(todo.until);
        return run.all;
      case 'waiting': {
        const { until, reason } = todo.pause;
        const isRefused = reason === 'unauthorized';
        if (isRefused && (await endRefusal(key))) return true;
        wakeAt(isRefused ? Math.min(until, clock.now() + ASK_KEY_MS) : until);
        // The host hears of each pause once.
        if (announcedUntil !== until) notify({ type: 'waiting', untilMs: until, reason });
        announcedUntil = until;
        return false;
      }
      case 'nothing':
        wakeAt(todo.due);
        return false;
    }
  };

  const work = async (run: Run): Promise<number> => {
    // The caller can still change this run before its first step.
    await Promise.resolve();
    /** On a full disk what needs a write waits, and the rest is sent. */
    const onFull = (error: unknown): boolean => {
      if (!isQuota(error) || run.isFull) throw error;
      run.isFull = true;
      fail('storage', 'The disk is full: what has to be written waits', error);
      wakeAt(clock.now() + RETRY_MS);
      return true;
    };
    try {
      do {
        run.again = false;
        await upkeep.tidy().catch(onFull);
        while (await doNext(run).catch(onFull));
      } while (run.again && canSend());
    } catch (cause) {
      fail('storage', 'The log could not be used', cause);
      wakeAt(clock.now() + RETRY_MS);
    } finally {
      running = undefined;
    }
    return run.delivered;
  };

  /** Sends what is due, or with `all` also what waits for company. Calls during a run share it. Returns how many events were delivered. */
  const run = (all: boolean): Promise<number> => {
    if (running !== undefined) {
      // The run may have looked for the last time already; one more look costs no request.
      running.again = true;
      running.all ||= all;
      return running.done;
    }
    running = { all, again: false, isFull: false, delivered: 0, done: Promise.resolve(0) };
    running.done = work(running);
    return running.done;
  };

  /** Ends a backoff early, and sends what is due. */
  const tryAgain = async (): Promise<void> => {
    try {
      await log.step([], (control) => {
        const pause = endEarly(control.wait, clock.now());
        if (pause === control.wait) return null;
        control.wait = pause;
        return [];
      });
      wake();
    } catch (cause) {
      fail('storage', 'The log could not be used', cause);
    }
  };

  /** The network or the user is back, or the user has opted in. */
  const onSign = (): void => {
    if (!canSend()) return;
    void log.place.retry();
    void tryAgain();
  };
  const stopListening = onReturn(lifecycle, onSign);

  return {
    run,
    wake,
    tryAgain,
    onSign,
    /** Events were stored. */
    onAppended(): void {
      const { wait } = log.lastControl();
      const isWaiting = isPausing(wait, clock.now());
      if (upkeep.isDue() || (log.unsent.size() >= size.limit() && !isWaiting)) wake();
      wakeAt(isWaiting ? wait.until : clock.now() + maxWaitMs);
      if (isStopped() || isWaiting || requests.isWarm()) return;
      cancelQuiet();
      cancelQuiet = clock.after(Math.min(COLD_QUIET_MS, maxWaitMs), () => {
        if (!requests.isWarm()) wake(true);
      });
    },
    lastFlush: createLastFlush(context, log, keyring, size, requests, settle),
    /** What is under way still comes to its end. */
    stop(): void {
      cancelTimer();
      cancelQuiet();
      stopListening();
      endIdle();
    },
  };
};

export type Sender = ReturnType<typeof createSender>;
