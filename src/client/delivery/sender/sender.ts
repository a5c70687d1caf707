import { createApiKeyProvider } from '../../credentials/credentials.ts';
import { isUnavailable } from '../../load-chunk.ts';
import { onReturn } from '../../platform/page-lifecycle.ts';
import { isPaused } from '../../platform/pauses.ts';
import type { DeliveryContext, Diagnostics, FlushResult } from '../delivery.ts';
import type { CapMonitor } from '../log/cap-monitor.ts';
import type { Log } from '../log/log.ts';
import { isQuotaError } from '../log/log-store.ts';
import { createClaimer, createPlanner } from './claim.ts';
import { createRequests, createSettle } from './send.ts';

/** Retry delay after the host's key function or the log failed. */
const RETRY_MS = 30_000;
/** Quiet time after which a page without a cached CORS preflight sends its first events early. */
const PREFLIGHT_DELAY_MS = 250;

interface Run {
  all: boolean;
  again: boolean;
  /** Whether the disk was full, or the trouble chunk could not be loaded, during this run. */
  isDegraded: boolean;
  delivered: number;
  done: Promise<number>;
}

/**
 * Delivers events: claims, sends and settles batches until none is due. Events wait up to `maxDelayMs` to fill a batch. Exception:
 * if no request was sent lately, the first events are sent after a short quiet time, so that the exit flush finds the preflight
 * cached.
 */
export const createSender = (context: DeliveryContext, log: Log, capMonitor: CapMonitor) => {
  const {
    apiKey,
    clock,
    lifecycle,
    userTokens,
    channel,
    fail,
    isWorker,
    canSend,
    isStopped,
    trouble,
    loadedTrouble,
  } = context;
  const { maxDelayMs, maxBatchSize } = context.options;
  const apiKeys = createApiKeyProvider(apiKey, clock.after);
  const limit = (): number => loadedTrouble()?.batchLimit() ?? maxBatchSize;
  const planNext = createPlanner(context, log, limit);
  const claim = createClaimer(context, log);
  const requests = createRequests(context, log);
  const settle = createSettle(context, log);
  let running: Run | undefined;
  /** Monotonic time, so that a clock that is set ahead does not delay due events. */
  let timerAt = Number.POSITIVE_INFINITY;
  let cancelTimer: () => void = () => undefined;
  let cancelQuiet: () => void = () => undefined;
  /** Stops waiting for another tab. */
  let endIdle: () => void = () => undefined;

  /** Sends due events, or with `all` every event. The outcome is not awaited. */
  const wake = (all = false): void => {
    if (!isWorker && canSend()) void run(all);
  };

  /** Checks again at `time` (Unix milliseconds), unless an earlier check is scheduled. */
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

  /** Resolves when the sending tab has its response, or at `time`. */
  const untilIdle = (time: number): Promise<void> =>
    new Promise((resolve) => {
      const stop = channel.subscribe(({ type }) => type === 'sender-idle' && endIdle());
      const cancel = clock.after(Math.max(0, time - clock.now()), () => endIdle());
      endIdle = () => {
        stop();
        cancel();
        resolve();
      };
    });

  /**
   * Returns the key to send with; `undefined` if none. While the server rejects the key, each call requests another one from the
   * host.
   */
  const usableKey = async (): Promise<string | undefined> => {
    if (log.cache.state().rejectedKeyFingerprint !== null) apiKeys.clear();
    try {
      return await apiKeys.get();
    } catch (cause) {
      fail('config', 'apiKey() failed: sending paused', cause);
      wakeAt(clock.now() + RETRY_MS);
      return undefined;
    }
  };

  /** Runs the next step. Returns `false` if nothing is left to do now. */
  const doNext = async (run: Run): Promise<boolean> => {
    if (!canSend()) return false;
    const key = await usableKey();
    if (key === undefined) return false;
    const todo = await planNext(run.all, run.isDegraded);
    if (!canSend()) return false;
    switch (todo.type) {
      case 'disabled':
        return false;
      case 'send': {
        const claimed = await claim(todo.batch);
        if (claimed === undefined) return true;
        const result = await requests.send(claimed.batch, key, false);
        run.delivered += await settle(claimed, result, key);
        return true;
      }
      case 'expired':
        await (await trouble()).settleAbandoned(todo.claim);
        return true;
      case 'token':
        await userTokens.get(todo.userId);
        return true;
      case 'correct':
        void (await (await trouble()).correction.request(todo.rejected)).settled.then(() => wake());
        return true;
      case 'locked':
        if (run.all) await untilIdle(todo.until);
        else wakeAt(todo.until);
        return run.all;
      case 'paused': {
        wakeAt(todo.pause.until);
        const until = await (await trouble()).waitUntil(todo.pause, key);
        if (until !== undefined) wakeAt(until);
        return until === undefined;
      }
      case 'idle':
        wakeAt(todo.due);
        return false;
    }
  };

  const work = async (run: Run): Promise<number> => {
    // The caller can still change this run before its first step.
    await Promise.resolve();
    /** Holds the steps that need a write on a full disk or the trouble chunk. Other events are still sent. */
    const degrade = (error: unknown): boolean => {
      const isFull = isQuotaError(error);
      if ((!isFull && !isUnavailable(error)) || run.isDegraded) throw error;
      run.isDegraded = true;
      if (isFull) fail('storage', 'The disk is full: writes are deferred', error);
      wakeAt(clock.now() + RETRY_MS);
      return true;
    };
    try {
      do {
        run.again = false;
        await capMonitor.enforceCaps().catch(degrade);
        while (await doNext(run).catch(degrade));
      } while (run.again && canSend());
    } catch (cause) {
      if (!isUnavailable(cause)) fail('storage', 'Event log unavailable', cause);
      wakeAt(clock.now() + RETRY_MS);
    } finally {
      running = undefined;
    }
    return run.delivered;
  };

  /** Sends due events, or with `all` every event. Calls during a run share it. Returns the number of delivered events. */
  const run = (all: boolean): Promise<number> => {
    if (running !== undefined) {
      // The run may have made its last check already. One more check costs no request.
      running.again = true;
      running.all ||= all;
      return running.done;
    }
    running = { all, again: false, isDegraded: false, delivered: 0, done: Promise.resolve(0) };
    running.done = work(running);
    return running.done;
  };

  /** Ends a backoff early, and sends due events. */
  const tryAgain = async (): Promise<void> => {
    // Most pages have had no failure.
    if (log.cache.state().pause.failures > 0) {
      const ending = trouble().then(({ endBackoff }) => endBackoff());
      await ending.catch((cause) => isUnavailable(cause) || fail('storage', 'Event log unavailable', cause));
    }
    wake();
  };

  /** Called when the network or the user is back, or after an opt-in. */
  const resume = (): void => {
    if (!canSend()) return;
    void log.store.retry();
    void tryAgain();
  };
  const stopListening = onReturn(lifecycle, resume);

  return {
    apiKeys,
    limit,
    requests,
    settle,
    run,
    wake,
    tryAgain,
    resume,
    /** Called after events were stored. */
    onAppended(): void {
      const { pause } = log.cache.state();
      const isWaiting = isPaused(pause, clock.now());
      if (capMonitor.isDue() || (log.cache.unsent().length >= limit() && !isWaiting)) wake();
      wakeAt(isWaiting ? pause.until : clock.now() + maxDelayMs);
      if (isStopped() || isWaiting || requests.hasPreflight()) return;
      cancelQuiet();
      cancelQuiet = clock.after(Math.min(PREFLIGHT_DELAY_MS, maxDelayMs), () => {
        if (!requests.hasPreflight()) wake(true);
      });
    },
    /** Requests in flight still complete. */
    stop(): void {
      cancelTimer();
      cancelQuiet();
      stopListening();
      endIdle();
    },
  };
};

export type Sender = ReturnType<typeof createSender>;

/** Stored events and their sender. A page adds event capture and the exit flush. */
export interface Outbox {
  context: DeliveryContext;
  log: Log;
  capMonitor: CapMonitor;
  sender: Sender;
  /** Sends all events in the log. `others` resolves with the number of events that other requests of this page deliver. */
  flush(others?: Promise<number>): Promise<FlushResult>;
  diagnostics(): Promise<Diagnostics>;
}
