import type { FailureKind } from './notice.ts';
import type { Clock } from './platform/clock.ts';

/**
 * Between two tries to load what is not needed for the first paint, in milliseconds: twice as long each time, since
 * after a deployment the chunk may be gone for good.
 */
const RETRY_MS = 2_000;
const MAX_RETRY_MS = 60_000;

export interface LateChunkOptions<T> {
  load: () => Promise<T>;
  after: Clock['after'];
  fail: (kind: FailureKind, message: string, cause: unknown) => void;
  isStopped: () => boolean;
}

export interface LateChunk<T> {
  /** The part, where it is loaded. */
  current(): T | undefined;
  /** Runs work that needs no chunk. */
  guard<R>(otherwise: R, work: () => Promise<R>): Promise<R>;
  /** Runs work if the chunk loads now. */
  tryTo<R>(otherwise: R, work: (part: T) => Promise<R>): Promise<R>;
  /** Runs work that must not get lost: as soon as the chunk is there, and in this task if it is there now. */
  whenLoaded<R>(otherwise: R, work: (part: T) => Promise<R>): Promise<R>;
}

/**
 * A part of the client that is loaded when it is first used. Its verbs throw nothing into the page: what fails is told,
 * and they resolve with `otherwise`.
 */
export const createLateChunk = <T>({ load, after, fail, isStopped }: LateChunkOptions<T>): LateChunk<T> => {
  let part: T | undefined;
  let loading: Promise<T> | undefined;

  /** A chunk that did not come is asked for again next time. */
  const loadOnce = (): Promise<T> => {
    loading ??= load().then(
      (loaded) => {
        part = loaded;
        return loaded;
      },
      (cause) => {
        loading = undefined;
        throw cause;
      },
    );
    return loading;
  };

  const loadWithRetry = (waitMs = RETRY_MS): Promise<T> =>
    loadOnce().catch(async (cause) => {
      fail('storage', `A chunk did not start: ${cause}`, cause);
      await new Promise<void>((resolve) => after(waitMs, resolve));
      if (isStopped()) throw cause;
      return loadWithRetry(Math.min(waitMs * 2, MAX_RETRY_MS));
    });

  const guard = async <R>(otherwise: R, work: () => Promise<R>): Promise<R> => {
    try {
      return await work();
    } catch (cause) {
      fail('storage', String(cause), cause);
      return otherwise;
    }
  };

  return {
    current: () => part,
    guard,
    tryTo: (otherwise, work) => guard(otherwise, () => loadOnce().then(work)),
    whenLoaded: (otherwise, work) => guard(otherwise, () => (part ? work(part) : loadWithRetry().then(work))),
  };
};
