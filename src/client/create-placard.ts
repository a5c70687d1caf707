import type { Banner } from './banner.ts';
import { createBannerCache } from './banners/banner-cache.ts';
import { createDecide } from './decide.ts';
import { createDeferredChunk, retryImport } from './deferred-chunk.ts';
import type { DeferredClient } from './deferred-client.ts';
import type { Requested } from './deferred-context.ts';
import { createDeferredMethods, createNoopClient } from './noop-client.ts';
import { createNotices, type Notice } from './notices.ts';
import { type PlacardOptions, readOptions, type Settings } from './options/options.ts';
import { createPagePermission } from './permission.ts';
import type { Placard } from './placard.ts';
import { createPlacements } from './placements/placements.ts';
import { createSlotSizes } from './placements/slot-sizes.ts';
import { afterFrame } from './platform/clock.ts';
import { createTrack } from './track.ts';
import { createUserSwitch } from './user/switch-user.ts';

/** Maximum wait for the cache before the deferred chunk is loaded, in milliseconds. */
const MAX_CACHE_WAIT_MS = 250;

const createLivePlacard = (settings: Settings): Placard => {
  const { platform } = settings;
  const { now, after, openStore } = platform;
  const notices = createNotices();
  const { notify, fail, subscribe } = notices;
  const report = (cause: unknown): void => fail('internal', String(cause), cause);
  /** Notices emitted before the debug chunk, which prints them, is loaded; only with `debug`. */
  const buffered: Notice[] = [];
  const endBuffer = settings.debug ? subscribe((notice) => buffered.push(notice)) : undefined;
  const requested: Requested = { placements: new Set(), synced: new Set() };
  const requestPlacement = (placementId: string): void => {
    if (requested.placements.has(placementId)) return;
    requested.placements.add(placementId);
    deferred.current()?.queue(placementId);
  };

  /** Loads everything that the first paint does not need. */
  const load = async (): Promise<DeferredClient> => {
    const { createDeferredClient } = await retryImport(() => import('./deferred-client.ts'));
    // In a separate task, because evaluating the chunk already takes a task on a slow phone.
    await new Promise<void>((resolve) => after(0, resolve));
    return createDeferredClient({
      ...state,
      cache,
      placements,
      retryImport,
      deleteStored: userSwitch.deleteStored,
      buffered,
      endBuffer,
    });
  };
  const deferred = createDeferredChunk(load, after, fail);
  const { isStopped } = deferred;
  const permission = createPagePermission(settings, isStopped, fail);
  /** State that all parts share. */
  const state = {
    ...notices,
    settings,
    now,
    after,
    report,
    requested,
    requestPlacement,
    permission,
    deferred,
    store: openStore('placard-banners'),
    slotSizes: createSlotSizes(settings.appId),
  };
  const cache = createBannerCache(state);
  const track = createTrack({ ...state, cache });
  const snooze = (banner: Banner, hours: number) => deferred.run((client) => client.snooze(banner, hours));
  const placements = createPlacements({
    ...state,
    cache,
    track,
    snooze,
    hasShouldShow: !!settings.shouldShow,
    synced: requested.synced,
  });
  cache.setListener((hiddenBanner) => {
    if (hiddenBanner) return placements.hide(hiddenBanner);
    placements.updateAll();
    notify({ type: 'changed' });
  });

  const userSwitch = createUserSwitch({ ...state, cache });
  permission.subscribe((before) => {
    const applied = userSwitch.applyConsent(before);
    notify({ type: 'consent', state: permission.mayAct() ? 'enabled' : 'disabled' });
    return applied;
  });

  const decide = createDecide(state);

  const stop = (): void => {
    placements.unmountAll();
    deferred.stop();
  };

  // Only the read starts at once. Everything else waits until cached banners are on the page.
  const begin = async (): Promise<void> => {
    const cancel = after(MAX_CACHE_WAIT_MS, () => void deferred.run(async () => null, null));
    await userSwitch.openCache();
    cancel();
    await afterFrame(platform);
    if (!isStopped()) await userSwitch.startSession(false);
  };
  begin().catch(report);

  return {
    mount(placementId, element, hook) {
      // The element that the host passes may be missing in the page.
      const missing = element?.style ? !hook && 'hook' : 'element';
      if (missing) fail('config', `No ${missing} for "${placementId}"`);
      if (isStopped() || missing) return () => undefined;
      const unmount = placements.mount(placementId, element, hook);
      requestPlacement(placementId);
      return unmount;
    },
    async identify(userId) {
      if (!isStopped()) await userSwitch.signIn(userId);
    },
    // Before the deferred chunk is loaded, `shouldShow` was not called.
    reevaluate: () => deferred.current()?.reevaluate(),
    banner: cache.current,
    track,
    subscribe,
    ...createDeferredMethods(deferred.run),
    enable: () => decide('enable'),
    disable: (queued = 'keep') => decide(queued),
    stop,
    wipe: () => decide('wipe').then(stop),
  };
};

/**
 * Starts the client: shows cached banners at once, then syncs banners, counts impressions and delivers events. Never throws;
 * failures are `failed` notices. If an option is missing or invalid, the client is inert: it renders, stores and sends nothing,
 * and reports the error once, as a `failed` notice of kind `config` and in the console. On a server, without a `document`, it is
 * inert without a report.
 */
export const createPlacard = (options: PlacardOptions): Placard => {
  try {
    const settings = readOptions(options);
    return typeof document === 'undefined' ? createNoopClient() : createLivePlacard(settings);
  } catch (cause) {
    return createNoopClient(cause);
  }
};
