import type { BannerEvent } from '../banner.ts';
import type { Store, StoreKey } from '../platform/store.ts';
import { acceptDismissals } from './answers.ts';
import { isUserRecord } from './user-record.ts';

// A separate file: otherwise the deferred chunk would share the user's record with the first one, and esbuild would create a
// file that every page loads before the first paint.
/** Records accepted dismissals in the users' stored records, if no page does. */
export const acceptInStore = async (
  store: Store,
  toKey: (userId: string) => StoreKey,
  dismissals: readonly BannerEvent[],
  nowMs: number,
): Promise<void> => {
  for (const user of new Set(dismissals.map(({ userId }) => userId))) {
    const ids = dismissals.filter(({ userId }) => userId === user).map(({ bannerId }) => bannerId);
    await store.update<unknown>([toKey(user)], ([record]) => {
      // The record of a former user stays deleted.
      if (!isUserRecord(record)) return [];
      acceptDismissals(record, ids, nowMs);
      return [[toKey(user), record]];
    });
  }
};
