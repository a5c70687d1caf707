import type { Notify } from '../notice.ts';
import { applyAnswer } from './apply-answer.ts';
import type { BannerCache } from './banner-cache.ts';
import { invalidProperties } from './invalid-properties.ts';
import { putTestSend } from './overlay.ts';
import type { SyncResult } from './sync.ts';

/** Puts answers into the cache: test sends into memory only. Resolves when an answer is stored. */
export const createTakeAnswer = (cache: BannerCache, notify: Notify) => {
  /** When the answer of each placement was requested. Times grow from request to request, over all users. */
  const takenAtMs = new Map<string, number>();

  return async ({ userId, banners, askedAtMs, clockSkewMs }: SyncResult): Promise<void> => {
    const taken: SyncResult['banners'] = new Map();
    for (const [placementId, banner] of banners) {
      // A later request was answered first. The record knows that of its own banners, but not of test sends.
      if (takenAtMs.get(placementId)! > askedAtMs) continue;
      takenAtMs.set(placementId, askedAtMs);
      taken.set(placementId, banner);
      putTestSend(cache.overlay, placementId, banner);
    }
    // Before the first notice to the host, which may change the user.
    const stored = cache.change((record) => {
      applyAnswer(record, taken, askedAtMs);
      if (clockSkewMs !== undefined) record.clockSkewMs = clockSkewMs;
    });
    for (const banner of taken.values()) {
      for (const name of banner ? invalidProperties(banner) : []) {
        const message = `Property "${name}" of banner "${banner!.id}" is not of its declared type`;
        notify({ type: 'failed', kind: 'property', message, cause: banner!.properties[name] });
      }
    }
    await stored;
    if (cache.userId() !== userId) return;
    // The host may leave the page on this notice: the next page finds the answer in the cache.
    notify({ type: 'synced', placements: [...taken.keys()], banners: Object.fromEntries(taken) });
  };
};
