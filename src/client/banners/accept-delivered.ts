import type { BannerEvent } from '../banner-event.ts';
import { acceptDismissals } from './accept-dismissals.ts';
import type { BannerCache } from './banner-cache.ts';

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
