import { isQuota } from './fallback-store.ts';

/**
 * Runs work that writes; where the disk is too full for it, `evict` frees some of it, and it runs again. Where nothing is left to
 * evict, `giveUp` goes on in memory.
 */
export const createRetryOnQuota =
  (evict: () => Promise<boolean>, giveUp: (reason: Error) => void) =>
  async <T>(work: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        // For any other failure the log has gone on in memory already.
        if (!isQuota(error)) throw error;
        // The disk may be too full even for an eviction, which writes as well.
        if (!(await evict().catch(() => false))) giveUp(new Error('the storage quota is used up'));
      }
    }
  };

export type RetryOnQuota = ReturnType<typeof createRetryOnQuota>;
