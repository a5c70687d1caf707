import type { BannerCache } from '../banners/banner-cache.ts';
import { isFocus } from '../banners/overlay.ts';
import type { Delivery } from '../delivery/index.ts';
import type { Rehearsal } from '../inspector/index.ts';

/**
 * Captures events, but for those of a banner that is only tried out (a preview, or what the inspector shows): they go to the
 * inspector where it is open, and nothing of them is stored.
 */
export const createTryOut = (cache: BannerCache, delivery: Delivery) => {
  let rehearsal: Rehearsal | undefined;
  const covers = (bannerId: string): boolean => isFocus(bannerId) || rehearsal?.covers(bannerId) === true;
  const capture: Delivery['capture'] = (event) => {
    if (!covers(event.bannerId)) return delivery.capture(event);
    if (rehearsal) rehearsal.takes(event);
    else if (event.type === 'dismiss') cache.overlay.delete(event.placementId);
    return Promise.resolve(null);
  };

  return {
    covers,
    capture,
    /** The rehearsal of the inspector, which begins with its first use. */
    rehearse(begin: () => Rehearsal): Rehearsal {
      rehearsal ??= begin();
      return rehearsal;
    },
  };
};
