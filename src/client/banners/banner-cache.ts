import type { Banner } from '../banner.ts';
import type { Consent } from '../consent/consent.ts';
import type { CapturedEvent } from '../delivery/delivery.ts';
import type { Fail } from '../notices.ts';
import type { Settings } from '../options/options.ts';
import type { Store, StoreKey } from '../platform/store.ts';
import type { CurrentUser } from '../user/current-user.ts';
import {
  addDismissals,
  createBootstrap,
  emptyRecord,
  isDismissed,
  isUserRecord,
  recordKey,
  type UserRecord,
} from './user-record.ts';

/** A store that has not answered by then is waited for no longer; a later answer still counts. */
const STORE_TIMEOUT_MS = 2_000;
/** At most this many changes that the store has refused are kept. */
const MAX_REFUSED = 100;

interface CacheOptions {
  settings: Pick<Settings, 'endpoint' | 'appId' | 'bootstrap' | 'platform'>;
  store: Store;
  /** While nothing may be written, changes wait in memory and the store is left alone. */
  consent: Pick<Consent, 'mayWrite'>;
  user: Pick<CurrentUser, 'id' | 'look'>;
  fail: Fail;
}

/** `sentAway`: the user sent this banner away here. */
type CacheListener = (sentAway?: Banner) => void;

/** Changes the record in place. It runs on the copy in memory and on the stored record, so it must be repeatable. */
type Change<T = unknown> = (record: UserRecord) => T;

/**
 * What is remembered of the current user, in memory and in the store. Reads are synchronous; a change shows in memory
 * at once and reaches the store in one transaction, where it meets the changes of the other tabs.
 */
export const createBannerCache = (options: CacheOptions) => {
  const { settings, store, consent, user, fail } = options;
  const { endpoint, appId, platform } = settings;
  const { now, after } = platform;
  const known = createBootstrap(settings);
  const listeners: CacheListener[] = [];
  let record = emptyRecord();
  /** Changes that the store has not confirmed yet, by transaction. */
  const pending = new Set<Change[]>();
  /** Changes that the store has refused, or may not have yet: the next transaction takes them along. */
  let refused: Change[] = [];
  /** Test sends by placement, in memory only. They are shown instead of what the record has. Their dismissals are in the record like all others. */
  const testSends = new Map<string, Banner>();
  /** What a person looks at in a preview or the inspector, by placement. It is shown instead of both; `null` hides both. */
  const lookedAt = new Map<string, Banner | null>();
  /** Banners this user was given since the user was opened: only they can be tracked. */
  const given = new Set<string>();
  /** Returns true for an event of what is looked at: nothing of it is stored. */
  let intercept: (event: CapturedEvent) => boolean = () => false;
  let isHung = false;
  let hasFailed = false;
  /** The store is known to have had a record of this user. */
  let isStored = false;

  const key = (userId: string) => recordKey(endpoint, appId, userId);

  /** Once a page: the copy in memory goes on. */
  const onError = (cause: unknown): void => {
    if (!hasFailed) fail('storage', 'Banner store failed', cause);
    hasFailed = true;
  };

  const tell = (sentAway?: Banner): void => {
    for (const listener of listeners) listener(sentAway);
  };

  /** Notes which banners this user has been given, and has the slots compare what they show with them. */
  const show = (): void => {
    for (const { banner } of record.banners.values()) if (banner) given.add(banner.id);
    for (const banner of [...testSends.values(), ...lookedAt.values()]) if (banner) given.add(banner.id);
    tell();
  };

  /** Takes the stored record. Where the store has none, the copy in memory stays as it is. */
  const adopt = (value: unknown): void => {
    if (!isUserRecord(value)) return;
    record = value;
    isStored = true;
    for (const change of [refused, ...pending].flat()) change(record);
    show();
  };

  /** Waits for the store, but not for ever: an open that never settles must not hold up an impression. */
  const settleWithin = async (work: () => Promise<unknown>): Promise<void> => {
    // A store of the host's may throw instead of reject.
    const reported = (async () => work())().then(() => {
      isHung = false;
    }, onError);
    if (isHung) return;
    await new Promise<void>((resolve) => {
      // In two halves, for the reason of `afterTimeout`; to share that with the late chunk costs the first paint 600 bytes.
      let cancel = after(STORE_TIMEOUT_MS / 2, () => {
        cancel = after(STORE_TIMEOUT_MS / 2, () => {
          isHung = true;
          onError(new Error('No answer'));
          resolve();
        });
      });
      void reported.then(() => cancel()).then(resolve);
    });
  };

  const reset = (): void => {
    record = emptyRecord();
    pending.clear();
    refused = known(user.id());
    for (const change of refused) change(record);
    testSends.clear();
    lookedAt.clear();
    given.clear();
    isStored = false;
    show();
  };

  const cache = {
    testSends,
    lookedAt,
    /** For what fills `lookedAt`: `by` gets every event before it is captured, and returns true for one that is not to be captured. */
    interceptEvents(by: typeof intercept): void {
      intercept = by;
    },
    isIntercepted: (event: CapturedEvent): boolean => intercept(event),
    show,
    key,
    settleWithin,
    record: (): Readonly<UserRecord> => record,
    /** False too where a host has found no banner and passes nothing. */
    isGiven: (banner: Banner): boolean => given.has(banner?.id),
    /** Why this banner may not be shown any more. */
    mustLeave(banner: Banner): 'user' | 'dismissed' | 'expired' | null {
      if (!cache.isGiven(banner)) return 'user';
      if (isDismissed(record, banner) || cache.isSnoozed(banner)) return 'dismissed';
      return cache.isExpired(banner) ? 'expired' : null;
    },
    isSnoozed: ({ id }: Banner): boolean => (record.snoozed?.get(id) ?? 0) > cache.now(),
    isExpired: (banner: Banner): boolean => cache.expiresInMs(banner) < 0,
    /** By the server's clock as well as it is known. */
    now: (): number => now() + record.clockSkewMs,
    expiresInMs: (banner: Banner): number => (banner.expiresAt ?? Infinity) - cache.now(),

    /** Looks who is here, forgets the former user in memory and reads this one's record. Resolves when it is there, or cannot be had. */
    async open(): Promise<void> {
      user.look();
      reset();
      await cache.reread();
    },

    /** Reads what another tab has changed. */
    async reread(): Promise<void> {
      const reader = user.id();
      if (reader === null || !consent.mayWrite()) return;
      await settleWithin(async () => {
        // Chromium keeps large records in files, which a restored backup lacks. A record that cannot be read cannot be updated.
        const value = await store.get(key(reader)).catch(() => store.deleteMany([key(reader)]));
        if (reader === user.id()) adopt(value);
      });
    },

    /** What would be shown now; `null` for nothing, `undefined` where no sync has answered yet. */
    current(placementId: string): Banner | null | undefined {
      const front = (lookedAt.has(placementId) ? lookedAt : testSends).get(placementId);
      const isFront = front === null || (front && !isDismissed(record, front));
      const banner = isFront ? front : record.banners.get(placementId)?.banner;
      return banner && (cache.isExpired(banner) || cache.isSnoozed(banner)) ? null : banner;
    },

    /**
     * Applies the change, and resolves with its result on the stored record, or on the copy in memory where the store has
     * failed. `undefined` while there is no user.
     */
    async change<T>(change: Change<T>): Promise<T | undefined> {
      const owner = user.id();
      if (owner === null) return undefined;
      let verdict = change(record);
      let stored: UserRecord | undefined;
      const changes = [...refused, change].slice(-MAX_REFUSED);
      const isWritten = consent.mayWrite();
      refused = isWritten ? [] : changes;
      if (isWritten) pending.add(changes);
      show();
      if (!isWritten) return verdict;
      const toStored = ([found]: (UserRecord | undefined)[]): [StoreKey, unknown][] => {
        // A former user's record is gone for good, in whatever tab the user left, and after a wipe nothing is written.
        if (owner !== user.id() || (isStored && !found)) return [];
        const isAgain = stored !== undefined;
        // Where the store has none, the copy in memory has every change, also those that are too many to be kept.
        stored = isUserRecord(found) ? found : record;
        if (stored !== record)
          for (const each of changes) {
            const result = each(stored) as T;
            // After a lost connection it runs again, and the store may hold the change already. The first result counts.
            if (!isAgain) verdict = result;
          }
        return [[key(owner), stored]];
      };
      await settleWithin(async () => {
        try {
          await store.update<UserRecord>([key(owner)], toStored);
        } catch (cause) {
          // A TypeError comes from a change that met a damaged record. It would fail again.
          if (pending.delete(changes) && !(cause instanceof TypeError)) refused.push(...changes);
          throw cause;
        }
        if (pending.delete(changes)) adopt(stored);
      });
      return verdict;
    },

    /** Another user's page has deleted the record, and this user has not left: the copy in memory is stored again. */
    writeAgain(): Promise<void> {
      isStored = false;
      return cache.change(() => undefined);
    },

    /** Takes banners out and keeps them out, those of this user's other tabs as well. */
    dismiss: (dismissals: Parameters<typeof addDismissals>[1]) =>
      cache.change((own) => addDismissals(own, dismissals)),

    /** The user sent this banner away here: its slots give it up at once. */
    sendAway: (banner: Banner): void => tell(banner),
    /** Calls `listener` after every change, at once for the copy in memory: the banners on the page may be out of date. */
    subscribe: (listener: CacheListener): void => void listeners.push(listener),
  };
  return cache;
};

export type BannerCache = ReturnType<typeof createBannerCache>;
