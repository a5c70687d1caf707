import type { BannerEvent } from '../banner.ts';
import type { Store, StoreKey } from '../platform/store.ts';
import { acceptDismissals } from './answers.ts';
import { isUserRecord } from './user-record.ts';

// A file of its own: with it the late chunk would share the user's record with the first one, and esbuild would make a file of it
// that every page loads before the first paint.
/** Takes note of accepted dismissals where no page does: in the records that the pages of their users will read. */
export const acceptInStore = async (
  store: Store,
  keyOf: (userId: string) => StoreKey,
  dismissals: readonly BannerEvent[],
  nowMs: number,
): Promise<void> => {
  for (const user of new Set(dismissals.map(({ userId }) => userId))) {
    const ids = dismissals.filter(({ userId }) => userId === user).map(({ bannerId }) => bannerId);
    await store.update<unknown>([keyOf(user)], ([record]) => {
      // A former user's record is gone for good.
      if (!isUserRecord(record)) return [];
      acceptDismissals(record, ids, nowMs);
      return [[keyOf(user), record]];
    });
  }
};
