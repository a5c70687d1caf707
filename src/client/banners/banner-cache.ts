import type { Banner } from '../banner.ts';
import type { CapturedEvent } from '../delivery/delivery.ts';
import type { Fail } from '../notices.ts';
import type { Settings } from '../options/options.ts';
import type { PagePermission } from '../permission.ts';
import type { Store, StoreKey } from '../platform/store.ts';
import {
  addDismissals,
  createBootstrap,
  emptyRecord,
  isDismissed,
  isUserRecord,
  recordKey,
  type UserRecord,
} from './user-record.ts';

/** Maximum wait for the store. A later result is still applied. */
const STORE_TIMEOUT_MS = 2_000;
/** Maximum number of failed changes to keep. */
const MAX_UNSTORED = 100;

interface CacheOptions {
  settings: Pick<Settings, 'endpoint' | 'appId' | 'bootstrap' | 'platform'>;
  store: Store;
  /** Without write permission, changes wait in memory and the store is not used. */
  permission: Pick<PagePermission, 'mayWrite' | 'userId' | 'update'>;
  fail: Fail;
}

/** `hiddenBanner`: banner that the user dismissed or snoozed in this page. */
type CacheListener = (hiddenBanner?: Banner) => void;

/** Changes the record in place. Must be repeatable, because it runs on the copy in memory and on the stored record. */
type Change<T = unknown> = (record: UserRecord) => T;

/**
 * Creates the cache of the current user, in memory and in the store. Reads are synchronous. A change applies in memory at once,
 * and to the store in one transaction, which merges it with the changes of other tabs.
 */
export const createBannerCache = (options: CacheOptions) => {
  const { settings, store, permission, fail } = options;
  const { endpoint, appId, platform } = settings;
  const { now, after } = platform;
  const takeBootstrap = createBootstrap(settings);
  let listener: CacheListener = () => undefined;
  let record = emptyRecord();
  /** Changes that the store has not confirmed yet, by transaction. */
  const pending = new Set<Change[]>();
  /** Changes that failed in the store, or may not be stored yet. The next transaction includes them. */
  let unstoredChanges: Change[] = [];
  /** Test sends by placement, in memory only. They take precedence over the record. Their dismissals are stored in the record. */
  const testSends = new Map<string, Banner>();
  /**
   * Banners of a preview or the inspector, by placement. They take precedence over test sends and the record; `null` shows no
   * banner.
   */
  const previews = new Map<string, Banner | null>();
  /** IDs of the banners that were returned for this user since `open()`. Only these banners can be tracked. */
  const returnedIds = new Set<string>();
  /** Returns `true` for an event of a preview or the inspector. Such an event is not stored. */
  let intercept: (event: CapturedEvent) => boolean = () => false;
  let isHung = false;
  let hasFailed = false;
  /** Whether the store has had a record of this user. */
  let wasStored = false;

  const key = (userId: string) => recordKey(endpoint, appId, userId);

  /** Reports a store failure once per page. The copy in memory stays in use. */
  const onError = (cause: unknown): void => {
    if (!hasFailed) fail('storage', 'Banner store failed', cause);
    hasFailed = true;
  };

  /** Records the banners returned for this user, and notifies the slots. */
  const update = (): void => {
    for (const { banner } of record.banners.values()) if (banner) returnedIds.add(banner.id);
    for (const banner of [...testSends.values(), ...previews.values()])
      if (banner) returnedIds.add(banner.id);
    listener();
  };

  /** Applies the stored record. If the store has none, the copy in memory stays. */
  const adopt = (value: unknown): void => {
    if (!isUserRecord(value)) return;
    record = value;
    wasStored = true;
    for (const change of [unstoredChanges, ...pending].flat()) change(record);
    update();
  };

  /** Waits for the store with a timeout, because an `open` that never settles must not delay an impression. */
  const waitAtMost = async (work: () => Promise<unknown>): Promise<void> => {
    // The host's store may throw instead of rejecting.
    const reported = (async () => work())().then(() => {
      isHung = false;
    }, onError);
    if (isHung) return;
    await new Promise<void>((resolve) => {
      // Two timers, for the same reason as in `afterTimeout`. Sharing `afterTimeout` with the deferred chunk would add 600 bytes
      // to the first paint.
      let cancel = after(STORE_TIMEOUT_MS / 2, () => {
        cancel = after(STORE_TIMEOUT_MS / 2, () => {
          isHung = true;
          onError(new Error('Timed out'));
          resolve();
        });
      });
      void reported.then(() => cancel()).then(resolve);
    });
  };

  const reset = (): void => {
    record = emptyRecord();
    pending.clear();
    unstoredChanges = takeBootstrap(permission.userId());
    for (const change of unstoredChanges) change(record);
    testSends.clear();
    previews.clear();
    returnedIds.clear();
    wasStored = false;
    update();
  };

  const cache = {
    testSends,
    previews,
    /**
     * Sets the interceptor of events, for the owner of `previews`. It gets every event before capture, and returns `true` if the
     * event must not be captured.
     */
    interceptEvents(interceptor: typeof intercept): void {
      intercept = interceptor;
    },
    passToInterceptor: (event: CapturedEvent): boolean => intercept(event),
    update,
    key,
    waitAtMost,
    record: (): Readonly<UserRecord> => record,
    /** Returns whether the banner was returned for this user. `false` if a host passes no banner. */
    wasReturned: (banner: Banner): boolean => returnedIds.has(banner?.id),
    /** Returns the reason that this banner may not be shown anymore; `null` if it may. */
    removalReason(banner: Banner): 'user' | 'dismissed' | 'expired' | null {
      if (!cache.wasReturned(banner)) return 'user';
      if (isDismissed(record, banner) || cache.isSnoozed(banner)) return 'dismissed';
      return cache.isExpired(banner) ? 'expired' : null;
    },
    isSnoozed: ({ id }: Banner): boolean => (record.snoozed?.get(id) ?? 0) > cache.now(),
    isExpired: (banner: Banner): boolean => cache.expiresInMs(banner) < 0,
    /** Returns the estimated server time, in Unix milliseconds. */
    now: (): number => now() + record.clockSkewMs,
    expiresInMs: (banner: Banner): number => (banner.expiresAt ?? Infinity) - cache.now(),

    /** Clears the former user in memory. Without consent there is no current user. */
    close(): void {
      permission.update();
      reset();
    },

    /** Closes the former user, and reads the current user's record. Resolves when it is loaded, or cannot be loaded. */
    async open(): Promise<void> {
      cache.close();
      await cache.reread();
    },

    /** Reads the changes of another tab. */
    async reread(): Promise<void> {
      const reader = permission.userId();
      if (reader === null || !permission.mayWrite()) return;
      await waitAtMost(async () => {
        // Chromium keeps large records in files, which a restored backup lacks. An unreadable record cannot be updated, so it
        // is deleted.
        const value = await store.get(key(reader)).catch(() => store.deleteMany([key(reader)]));
        if (reader === permission.userId()) adopt(value);
      });
    },

    /** Returns the banner to show now; `null` if none; `undefined` before the first sync result. */
    current(placementId: string): Banner | null | undefined {
      const override = (previews.has(placementId) ? previews : testSends).get(placementId);
      const isOverridden = override === null || (override && !isDismissed(record, override));
      const banner = isOverridden ? override : record.banners.get(placementId)?.banner;
      return banner && (cache.isExpired(banner) || cache.isSnoozed(banner)) ? null : banner;
    },

    /**
     * Applies the change. Resolves with its result on the stored record, or on the copy in memory if the store fails;
     * `undefined` if there is no user.
     */
    async change<T>(change: Change<T>): Promise<T | undefined> {
      const owner = permission.userId();
      if (owner === null) return undefined;
      let outcome = change(record);
      let stored: UserRecord | undefined;
      const changes = [...unstoredChanges, change].slice(-MAX_UNSTORED);
      const isWritten = permission.mayWrite();
      unstoredChanges = isWritten ? [] : changes;
      if (isWritten) pending.add(changes);
      update();
      if (!isWritten) return outcome;
      const toStored = ([found]: (UserRecord | undefined)[]): [StoreKey, unknown][] => {
        // The deleted record of a former user must not be written again, whichever tab signed the user out. Nothing is written
        // after a wipe.
        if (owner !== permission.userId() || (wasStored && !found)) return [];
        const isAgain = stored !== undefined;
        // If the store has no record, the copy in memory has every change, including those over the limit.
        stored = isUserRecord(found) ? found : record;
        if (stored !== record)
          for (const each of changes) {
            const result = each(stored) as T;
            // After a lost database connection the change runs again, and the store may already have it. The first result counts.
            if (!isAgain) outcome = result;
          }
        return [[key(owner), stored]];
      };
      await waitAtMost(async () => {
        try {
          await store.update<UserRecord>([key(owner)], toStored);
        } catch (cause) {
          // A `TypeError` means that a change hit a damaged record, so a retry would fail again.
          if (pending.delete(changes) && !(cause instanceof TypeError)) unstoredChanges.push(...changes);
          throw cause;
        }
        if (pending.delete(changes)) adopt(stored);
      });
      return outcome;
    },

    /** Stores the copy in memory again, after another user's page deleted the record of this user, who is still signed in. */
    writeAgain(): Promise<void> {
      wasStored = false;
      return cache.change(() => undefined);
    },

    /** Removes banners and keeps them hidden, including in this user's other tabs. */
    dismiss: (dismissals: Parameters<typeof addDismissals>[1]) =>
      cache.change((own) => addDismissals(own, dismissals)),

    /** Tells the slots that the user dismissed or snoozed this banner in this page. The slots clear it at once. */
    hide: (banner: Banner): void => listener(banner),
    /** Sets the listener, which is called after every change, without waiting for the store. */
    setListener(next: CacheListener): void {
      listener = next;
    },
  };
  return cache;
};

export type BannerCache = ReturnType<typeof createBannerCache>;
