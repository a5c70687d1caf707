import type { RetryImport } from './deferred-chunk.ts';
import type { Fail } from './notices.ts';
import type { Clock } from './platform/clock.ts';
import { withTimeout } from './platform/pauses.ts';

/** Returns whether work failed because a chunk could not be loaded, which was reported. The work then waits for the chunk. */
export const isUnavailable = (error: unknown): boolean => Object(error).isReported === true;

/** Timeout of a load, in milliseconds: as long as a request's. */
const HANGING_MS = 15_000;

export type LoadChunk = <T>(load: () => Promise<T>) => Promise<T>;

/**
 * Creates the function that loads a chunk on first use. After a failure or a timeout, which it reports, the next call tries again.
 * `retryImport` is passed in by the first chunk, because esbuild would create a separate file for code that both chunks import,
 * and the first paint would wait for it.
 */
export const createLoadChunk = (retryImport: RetryImport, after: Clock['after'], fail: Fail): LoadChunk => {
  const loading = new Map<unknown, Promise<unknown>>();
  const request = async <T>(load: () => Promise<T>): Promise<T> => {
    try {
      return await withTimeout(retryImport(load), after, HANGING_MS, 'The load');
    } catch (cause) {
      loading.delete(load);
      const message = `Chunk failed to load: ${cause}`;
      fail('chunk-load', message, cause);
      throw Object.assign(new Error(message, { cause }), { isReported: true });
    }
  };
  return <T>(load: () => Promise<T>) => {
    const found = (loading.get(load) as Promise<T> | undefined) ?? request(load);
    loading.set(load, found);
    return found;
  };
};
