import type { Banner, BannerEvent, EventType } from './banner.ts';
import type { BannerCache } from './banners/banner-cache.ts';
import { isDismissed } from './banners/user-record.ts';
import type { CapturedEvent } from './delivery/delivery.ts';
import type { LateChunk } from './late-chunk.ts';
import type { LateClient } from './late-client.ts';
import type { Fail } from './notices.ts';
import type { CurrentUser } from './user/current-user.ts';

/** The stored event, or neither where it is not stored or the client was stopped before. */
type Tracked = Promise<BannerEvent | null | undefined>;

interface TrackOptions {
  user: CurrentUser;
  cache: BannerCache;
  late: LateChunk<LateClient>;
  isActive: () => boolean;
  now: () => number;
  fail: Fail;
}

const HOUR_MS = 60 * 60_000;

/** The client's `track`: what it does with an event, by its type. And a snooze, which is no event: no server knows of it. */
export const createTrack = ({ user, cache, late, isActive, now, fail }: TrackOptions) => {
  // Nothing of the road from here to the log waits or wraps a promise that need not: the page pays for each.
  const capture = (event: CapturedEvent): Tracked => late.run((client) => client.delivery.capture(event));

  const verbs: Record<EventType, (event: CapturedEvent, banner: Banner) => Tracked> = {
    impression: ({ userId, at }, banner) =>
      late.run((client) => client.countImpression(banner, userId, at), null),
    click: (event) => (cache.isTaken(event) ? Promise.resolve(null) : capture(event)),
    async dismiss(event, banner) {
      if (isDismissed(cache.record(), banner)) return null;
      cache.sendAway(banner);
      if (cache.isTaken(event)) return null;
      // Before the record: the page may be gone before that is stored, and the event brings it up to date.
      const captured = capture(event);
      // A listener may have changed the user.
      if (user.id() === event.userId) {
        await cache.dismiss([event]);
        late.current()?.notifyTabs();
      }
      return captured;
    },
  };

  /** What happens to a banner now; `null` where it may not. */
  const eventOf = (banner: Banner, type: EventType): CapturedEvent | null => {
    const userId = user.id();
    if (!isActive() || userId === null || !cache.isGiven(banner)) return null;
    const { id: bannerId, placementId, isControl } = banner;
    if (isControl && type !== 'impression') return null;
    return { type, bannerId, placementId, userId, at: now(), wasAllowed: true };
  };

  return {
    async track(banner: Banner, type: EventType): Promise<BannerEvent | null> {
      const event = eventOf(banner, type);
      // In JavaScript a type may be any.
      return (event && Object.hasOwn(verbs, type) && (await verbs[type](event, banner))) || null;
    },

    /** Hides the banner for so many hours, or for as many as its property `max_snooze_hours` allows. */
    async snooze(banner: Banner, hours: number): Promise<void> {
      const event = eventOf(banner, 'dismiss');
      const { max_snooze_hours: longest } = banner.properties;
      const bounded = Math.min(hours, longest?.value as number);
      // Also where one of the two is missing or no number.
      if (!(bounded > 0))
        fail('config', `"${banner.id}" has no number "max_snooze_hours", or ${hours} hours are no snooze`);
      else if (event) {
        cache.sendAway(banner);
        // In the sandbox it leaves as a dismissal does. A listener may have changed the user.
        if (cache.isTaken(event) || user.id() !== event.userId) return;
        await cache.snooze(banner, bounded * HOUR_MS);
        late.current()?.notifyTabs();
      }
    },
  };
};
