import type { Banner } from '../banner.ts';
import type { BannerEvent } from '../banner-event.ts';
import { acceptDelivered } from '../banners/accept-delivered.ts';
import type { BannerCache } from '../banners/banner-cache.ts';
import { forgetUsers } from '../banners/forget-users.ts';
import { focusOn, isFocus } from '../banners/overlay.ts';
import { createUpdates, type Updates } from '../banners/updates.ts';
import { createDelivery, type Delivery } from '../delivery/index.ts';
import type { Asked } from '../first/asked.ts';
import type { Consent } from '../first/consent.ts';
import type { Settings } from '../first/read-options.ts';
import type { Inspector, Rehearsal } from '../inspector/index.ts';
import type { Listener, Notify } from '../notice.ts';
import type { PlacardOptions } from '../options.ts';
import type { Boxes } from '../placements/box.ts';
import { createBoxMemory } from '../placements/box-memory.ts';
import type { Placements } from '../placements/placements.ts';
import { forgetLocal } from '../platform/forget-local.ts';
import { createPageLifecycle } from '../platform/page-lifecycle.ts';
import type { Store } from '../platform/store.ts';
import { withTimeout } from '../platform/timeout.ts';
import { createPreview, takePreviewToken } from '../preview/preview.ts';
import { createMeetVisitor } from '../visitors/meet-visitor.ts';
import { countImpressions } from './count-impressions.ts';
import { createFail } from './fail.ts';
import { judgeOptions } from './judge-options.ts';
import { createRecentNotices } from './recent-notices.ts';
import { createUserTokens } from './user-tokens.ts';

/** A store that has not answered by then is waited for no longer; it may still do so later. */
const STORE_TIMEOUT_MS = 2_000;

export interface LateClientOptions {
  settings: Settings;
  consent: Consent;
  cache: BannerCache;
  store: Store;
  placements: Placements;
  boxes: Boxes;
  /** Where the profile keeps its visitor. */
  visitorKey: string;
  asked: Asked;
  notify: Notify;
  subscribe: (listener: Listener) => () => void;
}

export interface LateClient
  extends Pick<Updates, 'startSession' | 'want' | 'renew' | 'refresh' | 'tellTabs' | 'forgetUser'> {
  delivery: Delivery;
  /** Stores the impression, unless it was counted in this session before. */
  countImpression(banner: Banner, userId: string): Promise<BannerEvent | null>;
  /** Deletes what is stored of everyone but the present user; boxes too, where nothing may be kept. */
  forgetFormerUsers(): Promise<void>;
  /** Where the host takes visitors: has one for this profile, unless `who` has signed in; then that visitor becomes the user. */
  meetVisitor(who: () => string | null): Promise<void>;
  /** True where the inspector takes the events of this banner, and nothing of them is to be stored. */
  isRehearsed(banner: Banner): boolean;
  inspect(): Promise<Inspector>;
  stop(): void;
}

/** All that can wait until a cached banner is on the page: session, sync, viewability, delivery. */
export const createLateClient = (options: LateClientOptions): LateClient => {
  const { settings, consent, cache, store, placements, boxes, visitorKey, asked, subscribe } = options;
  const { platform } = settings;
  const { notify, recent } = createRecentNotices(options.notify, platform.now);
  const fail = createFail(notify);
  judgeOptions(settings as PlacardOptions, notify);
  const { now, after, lifecycle = createPageLifecycle() } = platform;
  let isStopped = false;
  const mayAct = () => consent.mayStore() && !isStopped;
  const mayWrite = () => consent.mayWrite() && !isStopped;
  const boxMemory = createBoxMemory(boxes, mayWrite);

  const forgetFormerUsers = async (): Promise<void> => {
    if (consent.state === 'pending') return;
    if (!mayAct()) {
      boxMemory.forget();
      if (settings.visitors) forgetLocal(visitorKey);
    }
    // An opt-out and the eviction of the cache wait for this, and must not wait for ever.
    const forgetting = forgetUsers(store, cache.key, cache.userId());
    await withTimeout(forgetting, after, STORE_TIMEOUT_MS, 'The banner store').catch(cache.onError);
  };

  const userTokens = createUserTokens(settings.userToken, platform, fail);

  const delivery = createDelivery({
    api: { ...settings, userTokens, fetch: platform.fetch },
    consent,
    options: settings.delivery,
    platform: { ...platform, clock: platform, lifecycle },
    host: {
      notify,
      correct: settings.correct,
      onDelivered: (events) => updates.report(acceptDelivered(cache, events, now())),
      // The cache is worth less than an event: a sync brings it back.
      async evict() {
        await cache.change((record) => {
          record.banners.clear();
        });
        await forgetFormerUsers();
        updates.report(updates.bringBack());
      },
    },
    isWorker: false,
  });

  const meetVisitor = createMeetVisitor({
    settings,
    storageKey: visitorKey,
    cache,
    store,
    userTokens,
    delivery,
    mayWrite,
    fail,
  });

  const preview = createPreview({
    settings,
    cache,
    placements,
    asked: asked.placements,
    subscribe,
    focusOn,
    isFocus,
    fail,
  });

  let rehearsal: Rehearsal | undefined;
  const isRehearsed = (bannerId: string) => isFocus(bannerId) || rehearsal?.covers(bannerId) === true;
  const capture: Delivery['capture'] = async (event) => {
    if (!isRehearsed(event.bannerId)) return delivery.capture(event);
    if (rehearsal) rehearsal.takes(event);
    else if (event.type === 'dismiss') cache.overlay.delete(event.placementId);
    return null;
  };

  const inspect = async (): Promise<Inspector> => {
    const { createInspector, createRehearsal } = await import('../inspector/index.ts');
    rehearsal ??= createRehearsal({
      cache,
      placements,
      now,
      countAnew: impressions.countAnew,
      focusOn,
      isFocus,
    });
    return createInspector({
      settings,
      cache,
      asked,
      rehearsal,
      isFocus,
      mayAct,
      session: updates.session,
      syncBlockedUntilMs: updates.syncBlockedUntilMs,
      slots: impressions.slots,
      viewOf: impressions.inspect,
      recent,
      preview: preview.show,
    });
  };

  const updates = createUpdates({
    settings,
    consent,
    userTokens,
    cache,
    asked,
    lifecycle,
    mayAct,
    queued: delivery.queued,
    onSession: () => impressions.countAnew(),
    notify,
  });

  /** A log that stops answering keeps no user from a banner. */
  const logFailed = (cause: unknown): void => fail('storage', 'The log did not answer', cause);

  /** A page that was away may have missed an opt-out, and the log knows of it: asked before anything is stored. */
  const comeBack = async (work: () => Promise<unknown>): Promise<void> => {
    // Without consent not even an empty database is made.
    if (mayAct() && (await delivery.isAllowed()) && mayAct()) await work();
  };

  const impressions = countImpressions({
    platform,
    lifecycle,
    placements,
    cache,
    boxMemory,
    mayAct,
    updates,
    capture,
    fail,
  });

  const previewToken = takePreviewToken();
  if (previewToken) updates.report(preview.show(previewToken));

  if (settings.debug) {
    const print = async () => {
      const { printNotices } = await import('./debug.ts');
      const shown = [...asked.placements].map((id) => `${id} (${cache.current(id)?.id ?? 'empty'})`);
      printNotices({ settings, userId: cache.userId(), shown, subscribe });
    };
    updates.report(print());
  }

  const stops = [
    lifecycle.on('visible', () => updates.report(comeBack(updates.resume))),
    // The moment for what had to wait until it is out of sight. Nothing is stored here: a transaction that is open when
    // the page leaves would cost it the back/forward cache.
    lifecycle.on('hidden', placements.considerAll),
    lifecycle.on('online', updates.hurry),
    lifecycle.on('restored', () => updates.report(comeBack(cache.reread))),
  ];

  return {
    ...updates,
    delivery: { ...delivery, capture },
    inspect,
    isRehearsed: ({ id }) => isRehearsed(id),
    countImpression: impressions.count,
    forgetFormerUsers,
    meetVisitor,
    async startSession() {
      await lifecycle.whenActivated();
      // An opt-out of an earlier visit stays one: reading it tells of it.
      if (mayAct())
        await withTimeout(delivery.isAllowed(), after, STORE_TIMEOUT_MS, 'The log').catch(logFailed);
      if (userTokens.resume()) void delivery.flush();
      await updates.startSession();
    },
    stop() {
      isStopped = true;
      for (const stop of stops) stop();
      impressions.stop();
      preview.stop();
      updates.stop();
      delivery.stop();
    },
  };
};
