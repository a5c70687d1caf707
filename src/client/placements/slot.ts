import { safeUrl } from '../../protocol/index.ts';
import type { Banner, EventType } from '../banner.ts';
import type { BannerCache } from '../banners/banner-cache.ts';
import type { Fail } from '../notices.ts';
import type { EmptySlot, Slot } from '../placement-hook.ts';

export interface SlotVerbs {
  track: (banner: Banner, type: EventType) => Promise<unknown>;
  fail: Fail;
  cache: Pick<BannerCache, 'now'>;
}

/** What a hook gets beside its banner: the slot, and verbs that speak for this banner alone. */
export const createSlot = (banner: Banner, empty: EmptySlot, { track, fail, cache }: SlotVerbs): Slot => ({
  ...empty,
  click: async () => void (await track(banner, 'click')),
  dismiss: async () => void (await track(banner, 'dismiss')),
  safeUrl(url, use) {
    const safe = safeUrl(url, use);
    if (safe === null) {
      fail('url', `A URL of banner "${banner.id}" in "${empty.placementId}" was refused as ${use}`, url);
    }
    return safe;
  },
  now: cache.now,
  report: fail,
});
