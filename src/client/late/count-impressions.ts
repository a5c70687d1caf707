import type { Banner } from '../banner.ts';
import type { BannerEvent } from '../banner-event.ts';
import type { BannerCache } from '../banners/banner-cache.ts';
import { isFocus } from '../banners/overlay.ts';
import type { Updates } from '../banners/updates.ts';
import type { Delivery } from '../delivery/index.ts';
import type { Settings } from '../first/read-options.ts';
import type { Fail } from '../notice.ts';
import type { createBoxMemory } from '../placements/box-memory.ts';
import { watchImpressions } from '../placements/impressions.ts';
import type { Placements } from '../placements/placements.ts';
import type { PageLifecycle } from '../platform/page-lifecycle.ts';
import type { InBackground } from './in-background.ts';

interface CountImpressionsOptions {
  platform: Settings['platform'];
  lifecycle: PageLifecycle;
  placements: Placements;
  cache: BannerCache;
  boxMemory: ReturnType<typeof createBoxMemory>;
  isActive: () => boolean;
  updates: Pick<Updates, 'nameOf' | 'onSession' | 'renew'>;
  inBackground: InBackground;
  capture: Delivery['capture'];
  fail: Fail;
}

/** Stores an impression for each banner that is seen, once a session, and remembers how large its slot was. */
export const countImpressions = (options: CountImpressionsOptions) => {
  const { platform, lifecycle, placements, cache, boxMemory, isActive, capture, fail } = options;
  const { nameOf, onSession, renew } = options.updates;

  const count = async (banner: Banner, userId: string): Promise<BannerEvent | null> => {
    const { id: bannerId, placementId } = banner;
    const at = platform.now();
    if (!isActive() || cache.isExpired(banner)) return null;
    // Counted by the transaction that stores it: a crash before it leaves the next view to count, and one after it does not.
    const once = await nameOf(placementId, bannerId);
    if (once === undefined || cache.userId() !== userId) return null;
    return capture({ type: 'impression', bannerId, placementId, userId, at, once });
  };

  const Observer: typeof IntersectionObserver | undefined =
    platform.IntersectionObserver ?? globalThis.IntersectionObserver;
  if (!Observer) fail('config', 'No impression is counted without an IntersectionObserver');
  const watched = watchImpressions({
    placements,
    lifecycle,
    clock: platform,
    Observer,
    isActive,
    onExpired: renew,
    onSeen(banner) {
      const userId = cache.userId();
      if (userId !== null) options.inBackground(count(banner, userId));
    },
    onSize({ placementId, element, shown }) {
      if (shown && isFocus(shown.id)) return;
      const isDrawn = shown?.isControl === false;
      if (shown || cache.current(placementId) === null) boxMemory.remember(placementId, element, isDrawn);
    },
  });
  onSession(watched.countAnew);
  return { ...watched, count };
};
