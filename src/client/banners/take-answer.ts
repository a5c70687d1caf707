import type { Notify } from '../notice.ts';
import { applyAnswer } from './apply-answer.ts';
import type { BannerCache } from './banner-cache.ts';
import { misfits } from './properties.ts';
import type { SyncResult } from './sync.ts';

/** Puts an answer into the cache: test sends into memory only. Resolves when it is stored. */
export const takeAnswer = async (cache: BannerCache, result: SyncResult, notify: Notify): Promise<void> => {
  const { banners, askedAtMs, clockSkewMs } = result;
  const kept = { ...banners };
  for (const [placementId, banner] of Object.entries(banners)) {
    cache.testSends.delete(placementId);
    if (!banner) continue;
    if (banner.isTestSend) {
      cache.testSends.set(placementId, banner);
      delete kept[placementId];
    }
    for (const name of misfits(banner)) {
      const message = `Property "${name}" of banner "${banner.id}" is not of its declared type`;
      notify({ type: 'failed', kind: 'property', message, cause: banner.properties[name] });
    }
  }
  await cache.change((record) => {
    applyAnswer(record, kept, askedAtMs);
    if (clockSkewMs !== undefined) record.clockSkewMs = clockSkewMs;
  });
  // Whoever hears it may leave the page: the next one finds the answer in the cache.
  notify({ type: 'synced', placements: Object.keys(banners), banners });
};
