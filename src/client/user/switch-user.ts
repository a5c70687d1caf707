import type { BannerCache } from '../banners/banner-cache.ts';
import type { DeferredChunk } from '../deferred-chunk.ts';
import type { DeferredClient } from '../deferred-client.ts';
import type { PagePermission, State } from '../permission.ts';
import type { SlotSizes } from '../placements/slot-sizes.ts';
import type { Store } from '../platform/store.ts';

/**
 * Deletes the stored records of an app's users, except the current user, who may have signed in in the meantime. Keeps records
 * of other apps and versions.
 */
export const deleteUserRecords = async (
  store: Store,
  toKey: (userId: string) => (string | number)[],
  current: () => string | null,
): Promise<void> => {
  const scope = toKey('').slice(0, -1);
  // `\uffff` sorts after any realistic user ID.
  const found = await store.entries({ from: scope, to: [...scope, '\uffff'] });
  const keep = current();
  const kept = JSON.stringify(keep !== null && toKey(keep));
  await store.deleteMany(found.map(([key]) => key).filter((key) => JSON.stringify(key) !== kept));
};

interface UserSwitchOptions {
  permission: PagePermission;
  cache: BannerCache;
  store: Store;
  slotSizes: SlotSizes;
  deferred: DeferredChunk<DeferredClient>;
  /** Reports a failure that no caller waits for. */
  report: (cause: unknown) => void;
}

/**
 * Opens the cache and the session of the current user if there is consent, and closes those of the former user: at the start, on
 * sign-in, and on each change of consent.
 */
export const createUserSwitch = (options: UserSwitchOptions) => {
  const { permission, cache, store, slotSizes, deferred, report } = options;
  /**
   * Deletes the stored records of all users except the current one. Without consent, also deletes the heights of slots, the
   * visitor and the name of the tab.
   */
  const deleteStored = async (): Promise<void> => {
    if (permission.is('pending')) return;
    if (!permission.mayAct()) {
      slotSizes.clear();
      permission.deleteNames();
    }
    await cache.waitAtMost(() => deleteUserRecords(store, cache.key, permission.userId));
  };
  const openCache = async (): Promise<void> => {
    if (permission.mayAct()) await cache.open();
  };
  const startSession = (isSwitch: boolean): Promise<void> =>
    deferred.runWithFallback(
      (client) => client.startSession(isSwitch),
      async () => {
        if (isSwitch) await deleteStored();
      },
    );

  const open = async (isSwitch: boolean): Promise<void> => {
    await openCache();
    await startSession(isSwitch);
  };
  /** Merges the data in memory with the stored data after an opt-in. */
  const storeMemory = async (): Promise<void> => {
    await cache.change(() => undefined);
    await startSession(true);
  };
  const close = (): Promise<void> => {
    deferred.current()?.leaveSession();
    cache.close();
    return deleteStored();
  };

  return {
    /** Applies a change of consent. Resolves when it is done or has failed. `before` is the previous state. */
    applyConsent(before: State): Promise<void> {
      const isFirstChoice = before === 'pending';
      return (permission.mayAct() ? (isFirstChoice ? storeMemory() : open(false)) : close()).catch(report);
    },
    deleteStored,
    openCache,
    startSession,
    async signIn(userId: string | null): Promise<void> {
      if (!permission.signIn(userId)) return;
      deferred.current()?.leaveSession();
      await open(true);
    },
  };
};
