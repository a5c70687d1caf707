import type { Banner } from './banner.ts';
import { acceptDismissals } from './banners/accept-dismissals.ts';
import { applyAnswer } from './banners/apply-answer.ts';
import type { BannerCache } from './banners/banner-cache.ts';
import { forgetUsers } from './banners/forget-users.ts';
import { misfits } from './banners/properties.ts';
import { createSession } from './banners/session.ts';
import { createSync, type SyncResult } from './banners/sync.ts';
import { createDelivery, type Delivery } from './delivery/index.ts';
import type { Notify } from './notice.ts';
import type { Boxes } from './placements/box.ts';
import { createBoxMemory } from './placements/box-memory.ts';
import type { Mounted, Placements } from './placements/placements.ts';
import { watchViewability } from './placements/viewability.ts';
import { createPageLifecycle } from './platform/page-lifecycle.ts';
import type { Store } from './platform/store.ts';
import { createTabChannel } from './platform/tab-channel.ts';
import type { Settings } from './read-options.ts';

/** Placements whose answer came from the network in this page, and those that were asked for in this session. */
export interface Asked {
  placements: Set<string>;
  answered: Set<string>;
}

export interface AfterPaintOptions {
  settings: Settings;
  cache: BannerCache;
  store: Store;
  placements: Placements;
  boxes: Boxes;
  asked: Asked;
  mayAct: () => boolean;
  notify: Notify;
}

/** What the tabs of one app tell each other: this user's record has changed. */
interface TabMessage {
  changedFor: string;
}

export interface AfterPaint {
  delivery: Delivery;
  /** Joins or begins the session of the present user, which syncs what is mounted. */
  startSession(): Promise<void>;
  /** Syncs at the end of the task, without a cost. */
  want(placementId: string): void;
  /** Syncs now, if the budget allows it. */
  refresh(placementIds: string[]): Promise<void>;
  claimImpression(banner: Banner): Promise<boolean>;
  tellTabs(): void;
  /** Deletes what is stored of everyone but the present user; boxes too, where nothing may be kept. */
  forgetFormerUsers(): Promise<void>;
  /** The user changed: nothing of the former one's is asked for any more. */
  forgetUser(): void;
  stop(): void;
}

/** All that can wait until a cached banner is on the page: session, sync, viewability, delivery. One chunk. */
export const createAfterPaint = (options: AfterPaintOptions): AfterPaint => {
  const { settings, cache, store, placements, boxes, asked, mayAct, notify } = options;
  const { platform, banners: rule } = settings;
  const { now, after, random, lifecycle = createPageLifecycle() } = platform;
  const { isVisible, isPrerendering } = lifecycle;
  const channel = createTabChannel<TabMessage>(
    `placard-banners:${settings.appId}`,
    lifecycle,
    platform.openChannel,
  );
  /** Slots whose watch looks anew when the page is shown or hidden, or the banner changes. */
  const watches = new Map<Mounted, () => void>();

  const delivery = createDelivery({
    ...settings,
    options: settings.delivery,
    notify(notice) {
      if (notice.type === 'delivered') accept(notice.events);
      notify(notice);
    },
    lifecycle,
    fetch: platform.fetch,
    ...(platform.openStore && { openStore: platform.openStore }),
    ...(platform.openChannel && { openChannel: platform.openChannel }),
    clock: platform,
    random,
    // The cache is worth less than an event: the next sync brings it back.
    makeRoom: async () => {
      await cache.change((record) => {
        record.banners = {};
      });
      await forgetFormerUsers();
    },
  });

  const boxMemory = createBoxMemory(boxes, mayAct);

  const forgetFormerUsers = async (): Promise<void> => {
    if (!mayAct()) boxMemory.forget();
    await forgetUsers(store, cache.key, cache.userId());
  };

  const accept = (events: readonly { type: string; bannerId: string; userId: string }[]): void => {
    const ids = events
      .filter(({ type, userId }) => type === 'dismiss' && userId === cache.userId())
      .map(({ bannerId }) => bannerId);
    if (ids.length === 0) return;
    const acceptedAtMs = now();
    void cache.change((record) => acceptDismissals(record, ids, acceptedAtMs));
  };

  const tellTabs = (): void => {
    const userId = cache.userId();
    if (userId !== null) channel.post({ changedFor: userId });
  };

  const onAnswer = async ({ banners, askedAtMs, clockSkewMs }: SyncResult): Promise<void> => {
    const stored: SyncResult['banners'] = {};
    for (const [placementId, banner] of Object.entries(banners)) {
      asked.answered.add(placementId);
      if (banner?.isTestSend) cache.testSends.set(placementId, banner);
      else {
        cache.testSends.delete(placementId);
        stored[placementId] = banner;
      }
      for (const name of banner ? misfits(banner) : []) {
        const message = `Property "${name}" of banner "${banner!.id}" is not of its declared type`;
        notify({ type: 'failed', kind: 'property', message, cause: banner!.properties[name] });
      }
    }
    const done = cache.change((record) => {
      applyAnswer(record, stored, askedAtMs);
      if (clockSkewMs !== undefined) record.clockSkewMs = clockSkewMs;
    });
    notify({ type: 'synced', placements: Object.keys(banners), banners });
    await done;
    tellTabs();
  };

  const sync = createSync({
    settings,
    userId: cache.userId,
    maySync: () => mayAct() && !isPrerendering(),
    onAnswer: (result) => void onAnswer(result),
    onRateLimit: () => void session.drain(),
    notify,
  });

  const session = createSession({
    cache,
    rule,
    now,
    after,
    random,
    isVisible,
    onStart() {
      for (const placementId of placements.placementIds()) asked.placements.add(placementId);
      sync.want(asked.placements);
      tellTabs();
    },
  });

  const claimImpression = async (banner: Banner): Promise<boolean> =>
    mayAct() && !cache.isExpired(banner) && (await session.claim(banner.placementId, banner.id));

  const see = async (mounted: Mounted, banner: Banner): Promise<void> => {
    const userId = cache.userId();
    const at = now();
    if (userId === null || !(await claimImpression(banner))) return;
    await delivery.capture({
      type: 'impression',
      bannerId: banner.id,
      placementId: mounted.placementId,
      userId,
      at,
    });
  };

  const restartWatch = (mounted: Mounted) => watches.get(mounted)?.();
  placements.watchWith((mounted) => {
    /** The banner whose second is over, so that it is not claimed again and again. */
    let seen: Banner | null = null;
    const watch = watchViewability({
      element: mounted.element,
      isControl: () => mounted.shown?.isControl === true,
      isWaiting: () => mounted.shown !== null && mounted.shown !== seen && mayAct(),
      onSeen() {
        seen = mounted.shown;
        if (seen) void see(mounted, seen);
      },
      onLeft: placements.considerAll,
      onHeight(height) {
        const { placementId, shown } = mounted;
        if (shown && !shown.isControl) boxMemory.remember(placementId, height);
        else if (shown || cache.current(placementId) === null) boxMemory.remember(placementId, 0);
      },
      isVisible: () => isVisible() && !isPrerendering(),
      clock: platform,
      Observer: platform.IntersectionObserver ?? globalThis.IntersectionObserver,
    });
    watches.set(mounted, watch.restart);
    return () => {
      watches.delete(mounted);
      watch.stop();
    };
  }, restartWatch);

  const restartWatches = (): void => {
    for (const restart of watches.values()) restart();
  };
  const stops = [
    lifecycle.on('visible', () => {
      restartWatches();
      sync.hurry();
      void session.touch();
    }),
    lifecycle.on('hidden', () => {
      restartWatches();
      // Nobody looks now, so this is the moment for what had to wait. Nothing is stored here: a transaction that is open
      // when the page leaves would cost it the back/forward cache.
      placements.considerAll();
    }),
    lifecycle.on('activated', restartWatches),
    lifecycle.on('online', sync.hurry),
    lifecycle.on('restored', () => void cache.reread()),
    channel.subscribe(({ changedFor }) => {
      if (changedFor === cache.userId()) void cache.reread();
    }),
  ];

  return {
    delivery,
    claimImpression,
    tellTabs,
    forgetFormerUsers,
    async startSession() {
      await lifecycle.whenActivated();
      if (mayAct()) await session.start();
    },
    want(placementId) {
      sync.want([placementId]);
    },
    async refresh(placementIds) {
      if (sync.blockedUntilMs() > now()) {
        const message = `The service is not asked before ${new Date(sync.blockedUntilMs()).toISOString()}`;
        return notify({ type: 'failed', kind: 'sync', message });
      }
      if (!(await session.spend())) {
        return notify({
          type: 'failed',
          kind: 'budget',
          message: 'The refresh budget of this session is empty',
        });
      }
      await sync.now(placementIds);
    },
    forgetUser: sync.reset,
    stop() {
      for (const stop of stops) stop();
      session.stop();
      sync.stop();
      channel.close();
      delivery.stop();
    },
  };
};
