import { isQuota } from './log-store.ts';

/**
 * Runs work that writes. Where the disk is too full for it, `evictCache` frees space, and the work runs again; where that was not
 * enough, `evictEvents` does, as often as it frees some; where nothing is left to evict, `giveUp` goes on in memory.
 */
export const createRetryOnQuota =
  (evictCache: () => Promise<void>, evictEvents: () => Promise<boolean>, giveUp: (reason: Error) => void) =>
  async <T>(work: () => Promise<T>): Promise<T> => {
    for (let failures = 1; ; failures += 1) {
      try {
        return await work();
      } catch (error) {
        // For any other failure the log has gone on in memory already.
        if (!isQuota(error)) throw error;
        // The host's cache may fail like any other store, and a disk may be too full for an eviction, which writes as well.
        if (failures === 1) await evictCache().catch(() => undefined);
        else if (!(await evictEvents().catch(() => false))) giveUp(new Error('the storage quota is used up'));
      }
    }
  };

export type RetryOnQuota = ReturnType<typeof createRetryOnQuota>;
