import type { BannerCache } from '../banners/banner-cache.ts';
import type { Control } from '../delivery/log/records.ts';
import type { Boxes } from '../placements/box.ts';
import type { Store } from '../platform/store.ts';
import type { CurrentUser } from '../user/current-user.ts';
import type { Choice, Consent, OptOutPolicy } from './consent.ts';

/**
 * Deletes the stored records of an app's users, but that of the current user, who may have signed in meanwhile. Other apps and
 * other versions stay.
 */
export const forgetUsers = async (
  store: Store,
  keyOf: (userId: string) => (string | number)[],
  current: () => string | null,
): Promise<void> => {
  const scope = keyOf('').slice(0, -1);
  // No user ID sorts after the last code unit.
  const found = await store.entries({ from: scope, to: [...scope, '\uffff'] });
  const keep = current();
  const kept = JSON.stringify(keep !== null && keyOf(keep));
  await store.deleteMany(found.map(([key]) => key).filter((key) => JSON.stringify(key) !== kept));
};

/** Deletes what is stored of everyone but the current user; boxes and the visitor too, where nothing may be kept. */
export const createForgetStored =
  (consent: Consent, user: CurrentUser, cache: BannerCache, store: Store, boxes: Boxes) =>
  async (): Promise<void> => {
    if (consent.is('pending')) return;
    if (!consent.mayAct()) {
      boxes.forget();
      user.forgetVisitor();
    }
    await cache.settleWithin(() => forgetUsers(store, cache.key, user.id));
  };

/**
 * Brings the user's choice, or a wipe, to the log while the delivery cannot be loaded. The delivery does the rest when it is there.
 * The shape of the record is the log's; a test compares both, as what this chunk and a later one share would load first.
 */
export const storeChoice = async (
  log: Store,
  consent: Choice,
  policy: OptOutPolicy | 'wipe' | undefined,
  now: number,
): Promise<void> => {
  if (policy === 'wipe') return log.clear();
  const key = ['control', 1, 'meta'];
  // A newer version's records are left alone.
  await log.update<{ v: number }>([key], ([found]) =>
    found && found.v > 1 ? [] : [[key, { ...found, v: 1, consent, chosenAt: now }]],
  );
  if (policy !== 'purge') return;
  const records = await log.entries<Partial<Control> | undefined>();
  const queue = records.filter(([, record]) => record?.v === 1 && !record.consent);
  await log.deleteMany(queue.map(([each]) => each));
};
