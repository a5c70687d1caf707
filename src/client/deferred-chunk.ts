import type { Fail } from './notices.ts';
import type { Clock } from './platform/clock.ts';

/**
 * Returns the URL of the module that failed to load, if the error message contains it. Ignores the script URLs in webpack's
 * messages.
 */
export const findUrl = (message: string): string | undefined => /https?:\S+[^)]$/.exec(message)?.[0];

/** Imports a module, even if an earlier import of the module failed. */
export type RetryImport = <T>(load: () => Promise<T>) => Promise<T>;

// Chromium 153 and older engines cache a failed module load, and fail at once the next time (whatwg/html#6768). A query makes the
// URL different.
export const retryImport: RetryImport = (load) =>
  load().catch((cause) => {
    const url = findUrl(cause.message);
    if (!url) throw cause;
    return import(/* webpackIgnore: true */ `${url}?${Date.now()}`).catch(() => {
      throw cause;
    });
  });

/**
 * Initial delay between attempts to load the chunk, in milliseconds. Doubles with each attempt, because a deployment may have
 * removed the chunk.
 */
const RETRY_MS = 2_000;
const MAX_RETRY_MS = 60_000;
/** Timeout of a load, for callers with an alternative. */
const HANGING_MS = 10_000;

/** Part of the client that is loaded on first use. Its methods never reject; failures are notices. */
export interface DeferredChunk<T> {
  /** Returns the client; `undefined` until it is loaded. */
  current(): T | undefined;
  /**
   * Runs work once the chunk is loaded: synchronously if it is loaded now, else in call order. Without `fallback` the work
   * waits for the chunk indefinitely; a stopped client tries once. With `fallback` the work is dropped if the chunk cannot be
   * loaded now, or the client stops first. Resolves with `fallback`, or `null`, if the work was dropped or failed.
   */
  run<R>(work: (client: T) => Promise<R>, fallback: R): Promise<R>;
  run(work: (client: T) => Promise<void>): Promise<void>;
  run<R>(work: (client: T) => Promise<R>): Promise<R | null>;
  /**
   * Runs work like `run` without `fallback`. If the chunk cannot be loaded now or its load hangs, the work keeps waiting, and
   * the caller waits for `fallback` instead.
   */
  runWithFallback(work: (client: T) => Promise<void>, fallback: () => Promise<void>): Promise<void>;
  /** Stops the client. The chunk is not loaded again for waiting work. */
  stop(): void;
  isStopped(): boolean;
}

interface Waiting {
  start: () => void;
  isDroppable: boolean;
}

export const createDeferredChunk = <T extends { stop(): void }>(
  load: () => Promise<T>,
  after: Clock['after'],
  fail: Fail,
): DeferredChunk<T> => {
  let client: T | undefined;
  const waiting: Waiting[] = [];
  let loading: Promise<void> | undefined;
  let isStopped = false;
  let retryMs = RETRY_MS;
  let cancelRetry: () => void = () => undefined;

  /**
   * Starts the waiting work. If the chunk is not loaded, drops the work that may be dropped. Other work waits for the next
   * attempt, unless the client has stopped.
   */
  const startWaiting = (): void => {
    for (const each of waiting.splice(0)) {
      if (client || isStopped || each.isDroppable) each.start();
      else waiting.push(each);
    }
  };

  const tryToLoad = (): Promise<void> => {
    loading ??= tryOnce();
    return loading;
  };
  const tryOnce = async (): Promise<void> => {
    cancelRetry();
    try {
      client = await load();
    } catch (cause) {
      fail('chunk-load', `Chunk failed to load: ${cause}`, cause);
    }
    loading = undefined;
    startWaiting();
    // Events tracked before the stop must be stored first.
    if (isStopped) client?.stop();
    if (!waiting[0]) return;
    cancelRetry = after(retryMs, tryToLoad);
    retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
  };

  const run = <R>(work: (client: T) => Promise<R>, fallback?: R): Promise<R | null> => {
    const valueIfDropped = fallback ?? null;
    const start = async (): Promise<R | null> => {
      try {
        return client ? await work(client) : valueIfDropped;
      } catch (cause) {
        // A chunk that cannot be loaded was reported by `load-chunk.ts`.
        if (!Object(cause).isReported) fail('internal', String(cause), cause);
        return valueIfDropped;
      }
    };
    const isDroppable = fallback !== undefined;
    if (client || (isStopped && isDroppable)) return start();
    return new Promise((resolve) => {
      waiting.push({
        start: () => resolve(isStopped && isDroppable ? valueIfDropped : start()),
        isDroppable,
      });
      void tryToLoad();
    });
  };

  return {
    current: () => client,
    run: run as DeferredChunk<T>['run'],
    async runWithFallback(work, fallback) {
      const done = run(work);
      // Not `withTimeout`, because code that both chunks use would be one more file before the first paint.
      if (!client) {
        await new Promise<void>((resolve) => {
          const cancel = after(HANGING_MS, resolve);
          void tryToLoad().then(cancel).then(resolve);
        });
      }
      await (client ? done : Promise.race([done, fallback()]));
    },
    isStopped: () => isStopped,
    stop(): void {
      isStopped = true;
      client?.stop();
      cancelRetry();
      if (!loading) startWaiting();
    },
  };
};
