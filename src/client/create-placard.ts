import { MAX_EXTERNAL_USER_ID_BYTES } from '../protocol/index.ts';
import type { AfterPaint, Asked } from './after-paint.ts';
import type { Banner } from './banner.ts';
import type { BannerEvent, EventType } from './banner-event.ts';
import { createBannerCache } from './banners/banner-cache.ts';
import { addDismissal, isDismissed } from './banners/dismissals.ts';
import type { Delivery } from './delivery/index.ts';
import { createInertPlacard } from './inert-placard.ts';
import { NO_DIAGNOSTICS } from './no-diagnostics.ts';
import type { FailureKind, Notify } from './notice.ts';
import { createNotices } from './notices.ts';
import type { PlacardOptions } from './options.ts';
import type { Placard } from './placard.ts';
import { createBoxes } from './placements/box.ts';
import { createPlacements } from './placements/placements.ts';
import { afterFrame } from './platform/after-frame.ts';
import { createIdbStore } from './platform/idb-store.ts';
import { readOptions, type Settings } from './read-options.ts';

/**
 * Between two tries to load what is not needed for the first paint, in milliseconds: twice as long each time, since
 * after a deployment the chunk may be gone for good.
 */
const CHUNK_RETRY_MS = 2_000;
const CHUNK_RETRY_MAX_MS = 60_000;

/** A cache that has not answered by then may never do: the rest is loaded beside it, and finds out about its own store. */
const SLOW_MS = 250;

/** An ID comes from the host's data, so a wrong one is a notice and not an exception. */
const isUsableUserId = (userId: unknown): userId is string | null =>
  userId === null ||
  (typeof userId === 'string' && userId !== '' && new Blob([userId]).size <= MAX_EXTERNAL_USER_ID_BYTES);

const createLivePlacard = (settings: Settings): Placard => {
  const { platform } = settings;
  const { now, after, openStore = createIdbStore } = platform;
  const store = openStore('placard-banners');
  const { notify: tell, fail, subscribe } = createNotices();
  const asked: Asked = { placements: new Set(), answered: new Set() };
  let isAllowed = settings.consent === 'enabled';
  let isStopped = false;
  let loaded: AfterPaint | undefined;
  let loading: Promise<AfterPaint> | undefined;
  let storeFailed = false;

  const notify: Notify = (notice) => {
    // An opt-out, here or in another tab, or one of an earlier visit.
    if (notice.type === 'consent') void follow(notice.state === 'enabled');
    if (notice.type === 'emptied' && notice.reason === 'expired') loaded?.renew(notice.placementId);
    tell(notice);
  };

  const mayAct = (): boolean => isAllowed && !isStopped;

  const cache = createBannerCache({
    endpoint: settings.endpoint,
    appId: settings.appId,
    store,
    clock: platform,
    onChange() {
      placements.considerAll();
      tell({ type: 'changed' });
    },
    onError(cause) {
      if (!storeFailed) fail('storage', 'The banner store failed', cause);
      storeFailed = true;
    },
  });

  const boxes = createBoxes(settings.appId);

  const placements = createPlacements({
    reserve: (element, placementId) => (isAllowed ? boxes.reserve(element, placementId) : undefined),
    current: cache.current,
    mustLeave(banner) {
      if (!cache.isGiven(banner)) return 'user';
      if (isDismissed(cache.record(), banner)) return 'dismissed';
      return cache.isExpired(banner) ? 'expired' : null;
    },
    source: (placementId) => (asked.answered.has(placementId) ? 'sync' : 'cache'),
    expiresInMs: cache.expiresInMs,
    click: (banner) => track(banner, 'click'),
    dismiss: (banner) => track(banner, 'dismiss'),
    after,
    isVisible: () => platform.lifecycle?.isVisible() ?? !document.hidden,
    fail,
    notify,
  });

  /** Everything that is not needed for the first paint; a chunk that did not come is asked for again next time. */
  const rest = (): Promise<AfterPaint> => {
    loading ??= import('./after-paint.ts')
      // Chromium 153 and older engines never ask twice for a module that did not come (whatwg/html#6768), but for one of
      // another address. The error ends in the address.
      .catch(
        (cause): Promise<typeof import('./after-paint.ts')> =>
          import(/* webpackIgnore: true */ `${/http.+/.exec(cause.message)}?${Date.now()}`).catch(() => {
            throw cause;
          }),
      )
      .then(({ createAfterPaint }) => {
        loaded = createAfterPaint({
          settings,
          cache,
          store,
          openStore,
          placements,
          boxes,
          asked,
          mayAct,
          notify,
          subscribe,
        });
        if (isStopped) loaded.stop();
        return loaded;
      })
      .catch((cause) => {
        loading = undefined;
        throw cause;
      });
    return loading;
  };

  /** The same for what must not get lost: a chunk that does not come is asked for until it does. */
  const restAtLast = (waitMs = CHUNK_RETRY_MS): Promise<AfterPaint> =>
    rest().catch(async (cause) => {
      fail('storage', `A chunk did not start: ${cause}`, cause);
      await new Promise<void>((resolve) => after(waitMs, resolve));
      if (isStopped) throw cause;
      return restAtLast(Math.min(waitMs * 2, CHUNK_RETRY_MAX_MS));
    });

  /** Runs what must not get lost: without a detour where it can, since before a navigation each turn counts. */
  const surely = <T>(work: (rest: AfterPaint) => Promise<T>): Promise<T> =>
    loaded ? work(loaded) : restAtLast().then(work);

  /** Runs a verb that must not throw into the page. */
  const safely = async <T>(kind: FailureKind, otherwise: T, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (cause) {
      fail(kind, String(cause), cause);
      return otherwise;
    }
  };

  const delivering = <T>(otherwise: T, work: (delivery: Delivery) => Promise<T>): Promise<T> =>
    safely('storage', otherwise, async () => work((await rest()).delivery));

  /** The user's choice takes effect here and in the stores, late rather than never. */
  const settling = (work: (rest: AfterPaint) => Promise<void>): Promise<void> =>
    safely('storage', undefined, () => surely(work));

  const usableUser = (userId: string | null): string | null => {
    if (isUsableUserId(userId)) return userId;
    // In a moment: while the client is created nobody can have subscribed.
    queueMicrotask(() => fail('config', `A user ID is a string of 1 to ${MAX_EXTERNAL_USER_ID_BYTES} bytes`));
    return null;
  };

  const startSession = async (): Promise<void> => {
    await (await restAtLast()).startSession();
    // Who used this app before leaves nothing behind. While nobody is signed in, someone may be coming back.
    if (cache.userId() !== null) await (await rest()).forgetFormerUsers();
  };

  const open = async (userId: string | null): Promise<void> => {
    asked.answered.clear();
    if (isAllowed) await cache.open(userId);
    await startSession();
  };

  const follow = async (isEnabled: boolean): Promise<void> => {
    if (isEnabled === isAllowed) return;
    isAllowed = isEnabled;
    const userId = currentUser;
    if (isEnabled) await safely('config', undefined, () => open(userId));
    else {
      loaded?.forgetUser();
      cache.close();
      await settling(({ forgetFormerUsers }) => forgetFormerUsers());
    }
  };

  let currentUser = usableUser(settings.userId);

  const capture = (banner: Banner, type: EventType, userId: string): Promise<BannerEvent | null> => {
    const event = { type, bannerId: banner.id, placementId: banner.placementId, userId, at: now() };
    return surely(({ delivery }) => delivery.capture(event));
  };

  const dismiss = async (banner: Banner, userId: string): Promise<BannerEvent | null> => {
    placements.sendAway(banner);
    const isRehearsed = loaded?.isRehearsed(banner);
    if (!isRehearsed && !(await cache.change((record) => addDismissal(record, banner)))) return null;
    const event = capture(banner, 'dismiss', userId);
    loaded?.tellTabs();
    return event;
  };

  const track = (banner: Banner, type: EventType): Promise<BannerEvent | null> => {
    const userId = cache.userId();
    const isOurs = mayAct() && userId !== null && cache.isGiven(banner);
    if (!isOurs || (banner.isControl && type !== 'impression')) return Promise.resolve(null);
    // Delivery never throws: without a detour where it can be, since before a navigation each turn counts.
    if (type === 'click' && loaded) return capture(banner, type, userId);
    return safely('storage', null, async () => {
      if (type === 'click') return capture(banner, type, userId);
      if (type === 'dismiss') return dismiss(banner, userId);
      // In JavaScript a type may be any.
      return type === 'impression' ? (await rest()).countImpression(banner, userId) : null;
    });
  };

  const stop = (): void => {
    isStopped = true;
    placements.unmountAll();
    loaded?.stop();
  };

  // The read starts at once and alone: everything else waits until what is cached is on the page.
  const begin = async (): Promise<void> => {
    const cancel = after(SLOW_MS, () => void rest().catch(() => undefined));
    if (isAllowed) await cache.open(currentUser);
    cancel();
    await afterFrame(platform);
    if (!isStopped) await safely('sync', undefined, startSession);
  };
  // On a server there is no page to show anything on.
  if (typeof document !== 'undefined') void begin();

  return {
    mount(placementId, element, hook) {
      // A host that looks its element up may have found none.
      const isUsable = element?.style && hook;
      if (!isUsable) fail('config', `No element or hook for "${placementId}"`);
      if (isStopped || !isUsable) return () => undefined;
      const unmount = placements.mount(placementId, element, hook);
      if (!asked.placements.has(placementId)) {
        asked.placements.add(placementId);
        loaded?.want(placementId);
      }
      return unmount;
    },
    identify: (userId) =>
      safely('sync', undefined, async () => {
        const next = usableUser(userId);
        if (next === currentUser || isStopped) return;
        currentUser = next;
        loaded?.forgetUser();
        await open(next);
        if (next === null) await (await rest()).forgetFormerUsers();
      }),
    refresh: (placementIds) =>
      safely('sync', undefined, async () => {
        const wanted = placementIds ?? [...asked.placements];
        for (const placementId of wanted) asked.placements.add(placementId);
        if (!mayAct() || cache.userId() === null) return fail('sync', 'No user, or no consent');
        if (wanted.length > 0) await (await rest()).refresh(wanted);
      }),
    banner: cache.current,
    track,
    subscribe,
    flush: () => delivering({ delivered: 0, pending: 0 }, (delivery) => delivery.flush()),
    diagnostics: () => delivering(NO_DIAGNOSTICS, (delivery) => delivery.diagnostics()),
    deadLetters: () => delivering([], (delivery) => delivery.deadLetters()),
    retryDeadLetters: (keys) => delivering(undefined, (delivery) => delivery.retryDeadLetters(keys)),
    discardDeadLetters: (keys) => delivering(undefined, (delivery) => delivery.discardDeadLetters(keys)),
    inspect: () => safely('storage', null, async () => (await rest()).inspect()),
    enable: () => delivering(undefined, (delivery) => delivery.enable()),
    disable(queued = 'keep') {
      // Takes effect before the first await, loaded or not, and waits for no other store.
      const closed = follow(false);
      return settling(async ({ delivery }) => {
        await delivery.disable(queued);
        await closed;
      });
    },
    stop,
    wipe() {
      const closed = follow(false);
      return settling(async ({ delivery, forgetFormerUsers }) => {
        // Also what an earlier visit has stored, where this one never had consent.
        await Promise.all([delivery.wipe(), forgetFormerUsers(), closed]);
        stop();
      });
    },
  };
};

/**
 * Starts the client: shows cached banners at once, then syncs, counts and delivers. Nothing throws, ever: failures are
 * `failed` notices. Where an option is missing or wrong, the client is inert: it draws, stores and sends nothing, and says so
 * once, in a `failed` notice of the kind `config` and in the console.
 */
export const createPlacard = (options: PlacardOptions): Placard => {
  try {
    return createLivePlacard(readOptions(options));
  } catch (cause) {
    return createInertPlacard(cause);
  }
};
