import { isQuota } from '../platform/fallback-store.ts';

/** Runs work that writes; where the disk is too full for it, `onFull` makes room, or goes on in memory, and it runs again. */
export const createMakingRoom =
  (onFull: () => Promise<void>) =>
  async <T>(work: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        // Only a full disk comes here: for everything else the store has gone on in memory already.
        if (!isQuota(error)) throw error;
        await onFull();
      }
    }
  };

export type MakingRoom = ReturnType<typeof createMakingRoom>;
