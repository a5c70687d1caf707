import type { BannerEvent } from '../banner.ts';
import type { Store, StoreKey } from '../platform/store.ts';
import { acceptDismissals } from './sync-response.ts';
import { isUserRecord } from './user-record.ts';

// Separate, because esbuild would move the module of the user record into a file that every page loads before the first paint.
/** Records accepted dismissals in the users' stored records, if no page is open to do so. */
export const acceptInStore = async (
  store: Store,
  toKey: (userId: string) => StoreKey,
  dismissals: readonly BannerEvent[],
  nowMs: number,
): Promise<void> => {
  for (const user of new Set(dismissals.map(({ userId }) => userId))) {
    const ids = dismissals.filter(({ userId }) => userId === user).map(({ bannerId }) => bannerId);
    await store.update<unknown>([toKey(user)], ([record]) => {
      // The deleted record of a former user must not be created again.
      if (!isUserRecord(record)) return [];
      acceptDismissals(record, ids, nowMs);
      return [[toKey(user), record]];
    });
  }
};
