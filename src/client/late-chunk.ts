import type { Fail } from './notices.ts';
import type { Clock } from './platform/clock.ts';

/** Imports a module that may have failed to load before. */
export type ImportAgain = <T>(load: () => Promise<T>) => Promise<T>;

/** Between two tries to load the chunk, in milliseconds: twice as long each time, since a deployment may have removed it. */
const RETRY_MS = 2_000;
const MAX_RETRY_MS = 60_000;
/** A load that takes longer counts as failed for callers that can do something meanwhile. */
const HANGING_MS = 10_000;

/** A part of the client that is loaded when it is first used. Its verbs never reject: failures are notices. */
export interface LateChunk<T> {
  /** Says how the chunk is loaded. It has to come before all other calls. */
  open(load: () => Promise<T>): void;
  /** The client, where it is loaded. */
  current(): T | undefined;
  /**
   * Runs work when the chunk is there: in this task if it is there now, else in the order of the calls. Without `otherwise` the
   * work waits for the chunk, however long that takes; a stopped client tries once. With it the work is dropped where the chunk
   * cannot be loaded now, or the client is stopped first. Resolves with `otherwise`, or `null`, where the work was dropped or failed.
   */
  run<R>(work: (client: T) => Promise<R>, otherwise: R): Promise<R>;
  run(work: (client: T) => Promise<void>): Promise<void>;
  run<R>(work: (client: T) => Promise<R>): Promise<R | null>;
  /**
   * Runs work like `run` without `otherwise`. Where the chunk cannot be loaded now, or its load hangs, the work goes on waiting, and
   * the caller waits for `meanwhile` instead.
   */
  runOr(work: (client: T) => Promise<void>, meanwhile: () => Promise<void>): Promise<void>;
  /** Stops the client. The chunk is not loaded again for work that waits. */
  stop(): void;
  isStopped(): boolean;
}

/** Work that waits for the chunk. */
interface Waiting {
  start: () => void;
  isDroppable: boolean;
}

export const createLateChunk = <T extends { stop(): void }>(
  after: Clock['after'],
  fail: Fail,
): LateChunk<T> => {
  let load: () => Promise<T>;
  let client: T | undefined;
  let waiting: Waiting[] = [];
  let loading: Promise<void> | undefined;
  let isStopped = false;
  let retryMs = RETRY_MS;
  let cancelRetry: () => void = () => undefined;

  /** Starts the waiting work. Where there is no chunk it drops what may be dropped; the rest waits for the next try, unless the client is stopped. */
  const startWaiting = (): void => {
    const isOver = client || isStopped;
    const ready = waiting.filter(({ isDroppable }) => isOver || isDroppable);
    waiting = waiting.filter((each) => !ready.includes(each));
    for (const { start } of ready) start();
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
      fail('load', `Chunk failed to load: ${cause}`, cause);
    }
    loading = undefined;
    startWaiting();
    // An event that was tracked before the stop has to be stored first.
    if (isStopped) client?.stop();
    if (!waiting[0]) return;
    cancelRetry = after(retryMs, tryToLoad);
    retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
  };

  const run = <R>(work: (client: T) => Promise<R>, otherwise?: R): Promise<R | null> => {
    const instead = otherwise ?? null;
    const start = async (): Promise<R | null> => {
      try {
        return client ? await work(client) : instead;
      } catch (cause) {
        fail('internal', String(cause), cause);
        return instead;
      }
    };
    const isDroppable = otherwise !== undefined;
    if (client || (isStopped && isDroppable)) return start();
    return new Promise((resolve) => {
      waiting.push({ start: () => resolve(isStopped && isDroppable ? instead : start()), isDroppable });
      void tryToLoad();
    });
  };

  return {
    open(by): void {
      load = by;
    },
    current: () => client,
    run: run as LateChunk<T>['run'],
    async runOr(work, meanwhile) {
      const done = run(work);
      // Not `withTimeout`: a file that both chunks need would be one more file before the first paint.
      if (!client) {
        await new Promise<void>((resolve) => {
          const cancel = after(HANGING_MS, resolve);
          void tryToLoad().then(cancel).then(resolve);
        });
      }
      await (client ? done : Promise.race([done, meanwhile()]));
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
