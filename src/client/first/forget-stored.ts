import type { BannerCache } from '../banners/banner-cache.ts';
import { forgetUsers } from '../banners/forget-users.ts';
import type { Boxes } from '../placements/box.ts';
import type { Store } from '../platform/store.ts';
import type { KnownVisitor } from '../visitors/known-visitor.ts';
import type { Consent, OptOutPolicy } from './consent.ts';

/** Deletes what is stored of everyone but the present user; boxes and the visitor too, where nothing may be kept. */
export const createForgetStored =
  (consent: Consent, cache: BannerCache, store: Store, boxes: Boxes, visitor: KnownVisitor) =>
  async (): Promise<void> => {
    if (consent.state === 'pending') return;
    if (!consent.mayAct()) {
      boxes.forget();
      visitor.forget();
    }
    await cache.settleWithin(() => forgetUsers(store, cache.key, cache.userId));
  };

/**
 * Brings an opt-out or a wipe to the log where the delivery cannot be loaded. The delivery does the rest when it is there.
 * The shape of the record is the log's; a test compares both, as what this chunk and a later one share would load first.
 */
export const optOutOfLog = async (log: Store, policy: OptOutPolicy | 'wipe', now: number): Promise<void> => {
  if (policy === 'wipe' || policy === 'purge') await log.clear();
  if (policy === 'wipe') return;
  const key = ['control', 1, 'meta'];
  const consent = policy === 'send' ? 'draining' : 'disabled';
  await log.update<{ v: number }>([key], ([found]) =>
    // A newer version's record is left alone.
    found && found.v > 1 ? [] : [[key, { ...found, v: 1, consent, chosenAt: now }]],
  );
};
