import type { Fail } from './notices.ts';

const UNAVAILABLE = 'ChunkUnavailable';

/** Returns whether work failed because a chunk could not be loaded. The work then waits for the chunk. */
export const isUnavailable = (error: unknown): boolean => Object(error).name === UNAVAILABLE;

/** Returns a function that loads a chunk on first use, and retries after a failure. */
export const loadOnce = <T>(load: () => Promise<T>, fail: Fail): (() => Promise<T>) => {
  let loading: Promise<T> | undefined;
  const request = async (): Promise<T> => {
    try {
      return await load();
    } catch (cause) {
      loading = undefined;
      const message = `Chunk failed to load: ${cause}`;
      fail('chunk-load', message, cause);
      throw Object.assign(new Error(message, { cause }), { name: UNAVAILABLE });
    }
  };
  return () => {
    loading ??= request();
    return loading;
  };
};
