import type { BannerEvent } from '../../banner.ts';
import { isUnavailable } from '../../load-chunk.ts';
import { createApiKeyProvider } from '../../platform/http.ts';
import { onReturn } from '../../platform/page.ts';
import { isPaused, isPendingDeadline } from '../../platform/pauses.ts';
import type { StoreKey } from '../../platform/store.ts';
import type { DeliveryContext, Diagnostics, FlushResult, RequestResult } from '../delivery.ts';
import { MAX_DELAY_MS, MAX_RESPONSE_MS } from '../limits.ts';
import type { Block, Log } from '../log/log.ts';
import { isQuotaError } from '../log/log-store.ts';
import {
  type Claim,
  type Claimed,
  EVENT_RANGE,
  formatKey,
  isLive,
  isSameGroup,
  type QueuedEvent,
} from '../log/records.ts';
import { createRequests, planBatches } from './send.ts';

/** Retry delay after the host's key function or the log failed. */
const RETRY_MS = 30_000;
/** Quiet time after which a page without a cached CORS preflight sends its first events early. */
const PREFLIGHT_DELAY_MS = 250;

/** Maximum size of a body, in bytes, so that one batch fits the keepalive budget. */
const MAX_BODY_BYTES = 50_000;
/** Maximum number of events to read to fill a batch. */
const MAX_READ = 1_000;

type NextAction =
  | Block
  | { type: 'send'; batch: QueuedEvent[] }
  /** No response to this request can arrive anymore, so its events are in doubt. */
  | { type: 'expired'; claim: Claim }
  | { type: 'token'; userId: string }
  | { type: 'correct'; rejected: QueuedEvent[] }
  /** Nothing to send now. Check again at `due` (Unix milliseconds), or on the next event. */
  | { type: 'idle'; due: number };

/**
 * Finds the next step, from the head of the queue. `all` includes events that are not due yet. `isDegraded`: the disk is full or
 * the trouble chunk cannot be loaded, so steps that need either wait, and expired claims keep their events.
 */
const createPlanner = (context: DeliveryContext, log: Log, limit: () => number) => {
  const { clock, options, userTokens, isWorker, trouble } = context;
  const { now } = clock;
  const { maxDelayMs } = options;

  /** Reads until a batch is full or the queue ends. Events that may be sent only once need a written claim. */
  const scan = async (claimed: Set<string>, isDegraded: boolean) => {
    const unsent: QueuedEvent[] = [];
    const rejected: QueuedEvent[] = [];
    const corrupt: StoreKey[] = [];
    let due = Number.POSITIVE_INFINITY;
    let read = 0;
    let same = 0;
    for await (const { key, event } of log.read(EVENT_RANGE)) {
      read += 1;
      if (event === undefined) corrupt.push(key);
      else if (claimed.has(formatKey(key))) continue;
      else if (isPendingDeadline(event.correctionLeaseUntil ?? 0, now(), MAX_RESPONSE_MS))
        due = Math.min(due, event.correctionLeaseUntil!);
      else if (event.rejection !== undefined) rejected.push({ key, event });
      else if (isDegraded && options.guarantee[event.type] !== 'at-least-once') continue;
      else if (isPendingDeadline(event.notBefore ?? 0, now(), MAX_DELAY_MS))
        due = Math.min(due, event.notBefore!);
      else if (userTokens.isPaused(event.userId)) due = Math.min(due, userTokens.pausedUntil(event.userId));
      else {
        unsent.push({ key, event });
        same += Number(isSameGroup(options, unsent[0]!.event, event));
      }
      if (same >= limit() || (read >= MAX_READ && same > 0)) break;
    }
    return { waiting: unsent, rejected, corrupt, due };
  };

  const remove = async (corrupt: StoreKey[], isDegraded: boolean): Promise<void> => {
    if (corrupt.length > 0 && !isDegraded) await (await trouble()).removeCorrupt(corrupt);
  };

  return async (all: boolean, isDegraded: boolean): Promise<NextAction> => {
    const { state, claims, corrupt } = await log.snapshot();
    await remove(corrupt, isDegraded);
    const block = log.findBlock(state, claims);
    if (block) return block;
    const live = claims.filter((each) => isLive(each, now()));
    const expired = claims.find((each) => !live.includes(each));
    if (expired && !isDegraded) return { type: 'expired', claim: expired };

    const found = await scan(new Set(claims.flatMap(({ keys }) => keys.map(formatKey))), isDegraded);
    await remove(found.corrupt, isDegraded);
    if (!isWorker && !isDegraded && found.rejected.length > 0)
      return { type: 'correct', rejected: found.rejected };
    const [oldest] = found.waiting;
    if (!oldest) return { type: 'idle', due: Math.min(found.due, ...live.map(({ deadline }) => deadline)) };
    const { userId, time } = oldest.event;
    // A time far in the future means that the clock was set back. Such an event is due.
    const isOld = Math.abs(now() - time) >= maxDelayMs;
    // After a failure, events are due at once, because they have already waited.
    const isDue = isOld || state.pause.failures > 0 || found.waiting.length >= limit();
    if (!all && !isDue) return { type: 'idle', due: time + maxDelayMs };
    // The token is requested before the claim, because the host may be slow.
    if (!userTokens.isReady(userId)) return { type: 'token', userId };
    const group = found.waiting.filter(({ event }) => isSameGroup(options, oldest.event, event));
    const [batch = [oldest]] = planBatches(group, MAX_BODY_BYTES, limit(), context);
    return { type: 'send', batch };
  };
};

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
export const createSender = (context: DeliveryContext, log: Log) => {
  const { apiKey, clock, lifecycle, userTokens, channel, fail, isWorker, permission, trouble, notify } =
    context;
  const { maxDelayMs, maxBatchSize } = context.options;
  const apiKeys = createApiKeyProvider(apiKey, clock.after);
  const limit = (): number => context.loadedTrouble?.batchLimit() ?? maxBatchSize;
  const planNext = createPlanner(context, log, limit);
  const requests = createRequests(context, log);
  let running: Run | undefined;
  /** Monotonic time, so that a clock that is set ahead does not delay due events. */
  let timerAt = Number.POSITIVE_INFINITY;
  let cancelTimer: () => void = () => undefined;
  let cancelQuiet: () => void = () => undefined;
  /** Stops waiting for another tab. */
  let endIdle: () => void = () => undefined;

  /** Sends due events, or with `all` every event. The outcome is not awaited. */
  const wake = (all = false): void => {
    if (!isWorker && permission.canSend()) void run(all);
  };

  /** Checks again at `time` (Unix milliseconds), unless an earlier check is scheduled. */
  const wakeAt = (time: number): void => {
    const delayMs = Math.max(0, time - clock.now());
    const at = clock.monotonic() + delayMs;
    if (permission.isStopped() || at >= timerAt) return;
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
      const stop = channel.subscribe(({ type }) => type === 'request-settled' && endIdle());
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

  /**
   * Leaves a result to the trouble chunk. If that cannot be loaded, the claim stays, unless the browser was offline: a request that
   * never left the browser is not in doubt.
   */
  const settleTrouble = async (claimed: Claimed, result: RequestResult, apiKey: string) => {
    const { settle } = await trouble().catch(async (cause) => {
      if (result.type === 'no-response' && result.wasOffline) await log.release(claimed.claim);
      throw cause;
    });
    return settle(claimed, result, apiKey);
  };

  /**
   * Records the result of a request in the log and tells the host. `apiKey` is the key that was sent. Returns the number of delivered
   * events.
   */
  const settle = async (
    claimed: Claimed,
    result: RequestResult | undefined,
    apiKey: string,
  ): Promise<number> => {
    let delivered: BannerEvent[] = [];
    if (result === undefined) await log.release(claimed.claim);
    else {
      // Once loaded, the trouble chunk settles every request, because the next batch size depends on the result.
      const isGood =
        result.type === 'response' && result.isAllAccepted && !claimed.isUnstored && !context.loadedTrouble;
      const confirmed = isGood ? await log.confirm(claimed.claim) : undefined;
      delivered = confirmed ?? (await settleTrouble(claimed, result, apiKey));
    }
    const dismissals = delivered.filter(({ type }) => type === 'dismiss');
    if (dismissals.length > 0) context.onDismissed?.(dismissals);
    if (delivered.length > 0) notify({ type: 'delivered', events: delivered });
    channel.post({ type: 'request-settled', pause: log.cache.state().pause });
    return delivered.length;
  };

  /** Runs the next step. Returns `false` if nothing is left to do now. */
  const doNext = async (run: Run): Promise<boolean> => {
    if (!permission.canSend()) return false;
    const key = await usableKey();
    if (key === undefined) return false;
    const todo = await planNext(run.all, run.isDegraded);
    if (!permission.canSend()) return false;
    switch (todo.type) {
      case 'disabled':
        return false;
      case 'send': {
        const claimed = await log.claim(todo.batch);
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
        await log.enforceCaps().catch(degrade);
        while (await doNext(run).catch(degrade));
      } while (run.again && permission.canSend());
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
    if (!permission.canSend()) return;
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
    onAppended(): void {
      const { pause } = log.cache.state();
      const isWaiting = isPaused(pause, clock.now());
      if (log.isCheckDue() || (log.cache.unsent().length >= limit() && !isWaiting)) wake();
      wakeAt(isWaiting ? pause.until : clock.now() + maxDelayMs);
      if (permission.isStopped() || isWaiting || requests.hasPreflight()) return;
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
  sender: Sender;
  /** Sends all events in the log. `others` resolves with the number of events that other requests of this page deliver. */
  flush(others?: Promise<number>): Promise<FlushResult>;
  diagnostics(): Promise<Diagnostics>;
}
