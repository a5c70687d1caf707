import type { Banner, BannerEvent, EventType, TrackOptions } from './banner.ts';
import type { BannerCache } from './banners/banner-cache.ts';
import { isDismissed } from './banners/user-record.ts';
import type { DeferredChunk } from './deferred-chunk.ts';
import type { DeferredClient } from './deferred-client.ts';
import type { CapturedEvent } from './delivery/delivery.ts';
import type { PagePermission } from './permission.ts';

/** Stored event; `null` if it was not stored. */
type Tracked = Promise<BannerEvent | null>;

interface CreateTrackOptions {
  permission: PagePermission;
  cache: BannerCache;
  deferred: DeferredChunk<DeferredClient>;
  now: () => number;
}

export const createTrack = ({ permission, cache, deferred, now }: CreateTrackOptions) => {
  // This path to the log avoids extra awaits and promises, because each costs the page time.
  const capture = (event: CapturedEvent): Tracked => deferred.run((client) => client.delivery.capture(event));

  /** ID of the banner being removed from its slots, whose cleanup may dismiss the banner again. */
  let dismissingId: string | undefined;

  const actions: Record<EventType, (event: CapturedEvent, banner: Banner) => Tracked> = {
    impression: ({ userId, at }, banner) =>
      deferred.run((client) => client.countImpression(banner, userId, at), null),
    click: (event) => (cache.passToInterceptor(event) ? Promise.resolve(null) : capture(event)),
    async dismiss(event, banner) {
      if (dismissingId === banner.id || isDismissed(cache.record(), banner)) return null;
      dismissingId = banner.id;
      cache.hide(banner);
      dismissingId = undefined;
      if (cache.passToInterceptor(event)) return null;
      // Captured before the record is stored, because the page may be gone in between, and the event restores the record.
      const captured = capture(event);
      // A listener may have changed the user.
      if (permission.userId() === event.userId) {
        await cache.dismiss([event]);
        deferred.current()?.notifyTabs();
      }
      return captured;
    },
  };

  return (banner: Banner, type: EventType, options?: TrackOptions): Tracked => {
    const userId = permission.userId();
    // A JavaScript host may pass any type.
    const isKnown = cache.wasReturned(banner) && Object.hasOwn(actions, type);
    if (!permission.isActive() || userId === null || !isKnown) return Promise.resolve(null);
    const { id: bannerId, placementId, isControl } = banner;
    if (isControl && type !== 'impression') return Promise.resolve(null);
    const event = { type, bannerId, placementId, userId, at: now(), wasAllowed: true };
    return actions[type]({ ...event, buttonId: options?.buttonId }, banner);
  };
};
