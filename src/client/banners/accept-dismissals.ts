import type { BannerEvent } from '../banner-event.ts';
import type { BannerCache } from './banner-cache.ts';
import type { UserRecord } from './user-record.ts';

/** The service has accepted the dismissals: their grace begins now. */
export const acceptDismissals = (record: UserRecord, bannerIds: readonly string[], nowMs: number): void => {
  record.dismissed = record.dismissed.map((dismissal) =>
    bannerIds.includes(dismissal.bannerId) ? { ...dismissal, acceptedAtMs: nowMs } : dismissal,
  );
};

/** From its acceptance a dismissal hides what the service may still send for some minutes. */
export const acceptDelivered = async (
  cache: BannerCache,
  events: readonly BannerEvent[],
  nowMs: number,
): Promise<void> => {
  const dismissals = events.filter(({ type, userId }) => type === 'dismiss' && userId === cache.userId());
  const ids = dismissals.map(({ bannerId }) => bannerId);
  if (ids.length > 0) await cache.change((record) => acceptDismissals(record, ids, nowMs));
};
