const UNAVAILABLE = 'ChunkUnavailable';

/** Whether work failed because the trouble chunk could not be loaded: what it was for waits. */
export const isUnavailable = (error: unknown): boolean => Object(error).name === UNAVAILABLE;

/** Returns a function that loads a chunk when it is first needed, and tries again after a failure. */
export const loadOnce = <T>(load: () => Promise<T>) => {
  let loading: Promise<T> | undefined;
  let loaded: T | undefined;
  const request = async (): Promise<T> => {
    try {
      loaded = await load();
      return loaded;
    } catch (cause) {
      loading = undefined;
      throw Object.assign(new Error('A chunk could not be loaded', { cause }), { name: UNAVAILABLE });
    }
  };
  return {
    get: (): Promise<T> => (loading ??= request()),
    loaded: (): T | undefined => loaded,
  };
};
