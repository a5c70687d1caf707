import type { Banner } from './banner.ts';
import type { BannerEvent } from './banner-event.ts';
import { acceptDismissals } from './banners/accept-dismissals.ts';
import type { BannerCache } from './banners/banner-cache.ts';
import { bannerOptions } from './banners/banner-options.ts';
import { forgetUsers } from './banners/forget-users.ts';
import { hideAgain } from './banners/hide-again.ts';
import { focusOn, isFocus } from './banners/overlay.ts';
import { createRenewal } from './banners/renewal.ts';
import { createSession } from './banners/session.ts';
import { createSync } from './banners/sync.ts';
import { createTakeAnswer } from './banners/take-answer.ts';
import type { UserRecord } from './banners/user-record.ts';
import { createDelivery, type Delivery, type DeliverySetup } from './delivery/index.ts';
import type { Inspection, Inspector, Rehearsal } from './inspector/index.ts';
import { judgeOptions } from './judge-options.ts';
import type { Listener, Notify } from './notice.ts';
import type { PlacardOptions } from './options.ts';
import type { Boxes } from './placements/box.ts';
import { createBoxMemory } from './placements/box-memory.ts';
import { watchImpressions } from './placements/impressions.ts';
import type { Placements } from './placements/placements.ts';
import { inTime } from './platform/in-time.ts';
import { createPageLifecycle } from './platform/page-lifecycle.ts';
import type { Store } from './platform/store.ts';
import { createTabChannel } from './platform/tab-channel.ts';
import type { Settings } from './read-options.ts';

/** A store that has not answered by then is waited for no longer; it may still do so later. */
const PATIENCE_MS = 2_000;
/** Notices of before it is opened that the inspector finds. */
const MAX_RECENT = 50;

/** Placements whose answer came from the network in this page, and those that were asked for in this session. */
export interface Asked {
  placements: Set<string>;
  answered: Set<string>;
}

export interface AfterPaintOptions {
  settings: Settings;
  cache: BannerCache;
  store: Store;
  openStore: (name: string) => Store;
  placements: Placements;
  boxes: Boxes;
  asked: Asked;
  mayAct: () => boolean;
  notify: Notify;
  subscribe: (listener: Listener) => () => void;
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
  /** Asks for a successor of the banner that expired there, if the budget allows it. */
  renew(placementId: string): void;
  /** Syncs now, if the budget allows it. */
  refresh(placementIds: string[]): Promise<void>;
  /** Stores the impression, unless it was counted in this session before. */
  countImpression(banner: Banner, userId: string): Promise<BannerEvent | null>;
  tellTabs(): void;
  /** Deletes what is stored of everyone but the present user; boxes too, where nothing may be kept. */
  forgetFormerUsers(): Promise<void>;
  /** The user changed: nothing of the former one's is asked for any more. */
  forgetUser(): void;
  /** True where the inspector takes the events of this banner, and nothing of them is to be stored. */
  isRehearsed(banner: Banner): boolean;
  inspect(): Promise<Inspector>;
  stop(): void;
}

/** All that can wait until a cached banner is on the page: session, sync, viewability, delivery. One chunk. */
export const createAfterPaint = (options: AfterPaintOptions): AfterPaint => {
  const { settings, cache, store, openStore, placements, boxes, asked, mayAct, subscribe } = options;
  const { platform } = settings;
  const recent: Inspection['recent'] = [];
  const notify: Notify = (notice) => {
    // Thousands of events may be tracked in one task, and tell nothing that the counters do not.
    if (notice.type !== 'tracked') recent.push({ at: platform.now(), notice });
    if (recent.length > MAX_RECENT) recent.shift();
    options.notify(notice);
  };
  judgeOptions(settings as PlacardOptions, notify);
  const rule = bannerOptions(settings.banners, notify);
  const { now, after, random, openChannel, lifecycle = createPageLifecycle() } = platform;
  const { isVisible, isPrerendering } = lifecycle;
  const channel = createTabChannel<TabMessage>(`placard-banners:${settings.appId}`, lifecycle, openChannel);
  const boxMemory = createBoxMemory(boxes, mayAct);
  /** Whose session this page has joined: a user who is known a line after the client is created comes here twice. */
  let joinedBy: string | null = null;

  /** For work that nobody waits for: its failure is told, and not thrown into the page. */
  const report = (work: Promise<unknown>): void => {
    work.catch((cause) =>
      notify({ type: 'failed', kind: 'storage', message: 'Something unexpected went wrong', cause }),
    );
  };

  const forgetFormerUsers = async (): Promise<void> => {
    if (!mayAct()) boxMemory.forget();
    // Whoever opts out or makes room waits for this, and must not wait for ever.
    const forgetting = forgetUsers(store, cache.key, cache.userId());
    await inTime(forgetting, after, PATIENCE_MS, 'The banner store').catch(cache.onError);
  };

  /** From its acceptance a dismissal hides what the service may still send for some minutes. */
  const accept = (events: readonly BannerEvent[]): void => {
    const dismissals = events.filter(({ type, userId }) => type === 'dismiss' && userId === cache.userId());
    const ids = dismissals.map(({ bannerId }) => bannerId);
    const acceptedAtMs = now();
    const change = (record: UserRecord): void => {
      hideAgain(record, dismissals);
      acceptDismissals(record, ids, acceptedAtMs);
    };
    if (ids.length > 0) report(cache.change(change));
  };

  const delivery = createDelivery({
    ...settings,
    // An opt-out before this was loaded holds from its first moment.
    consent: mayAct() ? 'enabled' : 'disabled',
    options: settings.delivery,
    notify(notice) {
      if (notice.type === 'delivered') accept(notice.events);
      notify(notice);
    },
    lifecycle,
    // Who brings a fetch of their own wants every request to go through it.
    ...(platform.fetch
      ? { fetch: platform.fetch }
      : { fetchLater: (globalThis as Pick<DeliverySetup, 'fetchLater'>).fetchLater }),
    openStore,
    ...(openChannel && { openChannel }),
    clock: platform,
    random,
    // The cache is worth less than an event: a sync brings it back.
    makeRoom: async () => {
      await cache.change((record) => {
        record.banners.clear();
      });
      await forgetFormerUsers();
      report(bringBack());
    },
  });

  let rehearsal: Rehearsal | undefined;
  const capture: Delivery['capture'] = (event) =>
    rehearsal?.takes(event) ? Promise.resolve(null) : delivery.capture(event);

  const inspect = async (): Promise<Inspector> => {
    const { createInspector, createRehearsal } = await import('./inspector/index.ts');
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
      session: session.inspect,
      syncBlockedUntilMs: sync.blockedUntilMs,
      slots: impressions.slots,
      viewOf: impressions.inspect,
      recent: () => [...recent],
    });
  };

  const tellTabs = (): void => {
    const userId = cache.userId();
    if (userId !== null) channel.post({ changedFor: userId });
  };

  const takeAnswer = createTakeAnswer(cache, notify);

  const sync = createSync({
    settings,
    userId: cache.userId,
    maySync: () => mayAct() && !isPrerendering(),
    onAnswer(result) {
      for (const placementId of result.banners.keys()) asked.answered.add(placementId);
      report(takeAnswer(result).then(tellTabs));
    },
    onRateLimit: () => report(session.drain()),
    notify,
  });

  /** From the budget: where the disk stays full, each event would cost a request. */
  const bringBack = async (): Promise<void> => {
    if (await session.spend()) sync.want(asked.placements);
  };

  const session = createSession({
    cache,
    rule,
    now,
    after,
    random,
    isVisible,
    onStart() {
      sync.want(asked.placements);
      impressions.countAnew();
      tellTabs();
    },
  });

  const renewal = createRenewal({
    ...rule,
    cache,
    after,
    random,
    isVisible,
    spend: session.spend,
    ask: sync.want,
  });

  const countImpression = async (banner: Banner, userId: string): Promise<BannerEvent | null> => {
    const { id: bannerId, placementId } = banner;
    const at = now();
    if (!mayAct() || cache.isExpired(banner)) return null;
    // Counted by the transaction that stores it: a crash before it leaves the next view to count, and one after it does not.
    const once = await session.nameOf(placementId, bannerId);
    if (once === undefined || cache.userId() !== userId) return null;
    return capture({ type: 'impression', bannerId, placementId, userId, at, once });
  };

  const see = async (banner: Banner): Promise<void> => {
    const userId = cache.userId();
    if (userId !== null) await countImpression(banner, userId);
  };

  /** A page that was away may have missed an opt-out, and the outbox knows of it: asked before anything is stored. */
  const comeBack = async (work: () => Promise<unknown>): Promise<void> => {
    await delivery.isAllowed();
    if (mayAct()) await work();
  };

  const Observer: typeof IntersectionObserver | undefined =
    platform.IntersectionObserver ?? globalThis.IntersectionObserver;
  if (!Observer) {
    const message = 'No impression is counted without an IntersectionObserver';
    notify({ type: 'failed', kind: 'config', message });
  }

  const impressions = watchImpressions({
    placements,
    lifecycle,
    clock: platform,
    Observer,
    mayCount: mayAct,
    onSeen: (banner) => report(see(banner)),
    onSize({ placementId, element, shown }) {
      const isDrawn = shown?.isControl === false;
      if (shown || cache.current(placementId) === null) boxMemory.remember(placementId, element, isDrawn);
    },
  });

  if (settings.debug) {
    const print = async () => {
      const { printNotices } = await import('./debug.ts');
      const shown = [...asked.placements].map((id) => `${id} (${cache.current(id)?.id ?? 'empty'})`);
      printNotices({ settings, userId: cache.userId(), shown, subscribe });
    };
    report(print());
  }

  const stops = [
    impressions.stop,
    lifecycle.on('visible', () => {
      const resume = () => {
        sync.hurry();
        renewal.resume();
        return session.touch();
      };
      report(comeBack(resume));
    }),
    // Nobody looks now, so this is the moment for what had to wait. Nothing is stored here: a transaction that is open
    // when the page leaves would cost it the back/forward cache.
    lifecycle.on('hidden', placements.considerAll),
    lifecycle.on('online', sync.hurry),
    lifecycle.on('restored', () => report(comeBack(cache.reread))),
    channel.subscribe(({ changedFor }) => {
      if (changedFor === cache.userId()) report(cache.reread());
    }),
  ];

  return {
    delivery: { ...delivery, capture },
    inspect,
    isRehearsed: ({ id }) => rehearsal?.covers(id) === true,
    countImpression,
    tellTabs,
    forgetFormerUsers,
    async startSession() {
      await lifecycle.whenActivated();
      // An opt-out of an earlier visit stays one: who reads it tells of it.
      if (mayAct()) await delivery.isAllowed();
      const userId = cache.userId();
      if (!mayAct() || userId === joinedBy) return;
      joinedBy = userId;
      // A record without a session is a new one.
      if (userId !== null && !cache.record().session) {
        const asking = inTime(delivery.dismissals(userId), after, PATIENCE_MS, 'The outbox');
        report(asking);
        // An outbox that does not answer keeps nobody from a banner.
        const dismissals = await asking.catch(() => []);
        if (!mayAct() || cache.userId() !== userId) return;
        if (dismissals.length > 0) await cache.change((record) => hideAgain(record, dismissals));
      }
      await session.start();
    },
    want: (placementId) => sync.want([placementId]),
    async refresh(placementIds) {
      const blockedUntilMs = sync.blockedUntilMs();
      if (blockedUntilMs > now()) {
        const message = `The service is not asked before ${new Date(blockedUntilMs).toISOString()}`;
        notify({ type: 'failed', kind: 'sync', message });
      } else if (!(await session.spend())) {
        notify({ type: 'failed', kind: 'budget', message: 'The refresh budget of this session is empty' });
      } else await sync.now(placementIds);
    },
    renew: renewal.want,
    forgetUser() {
      joinedBy = null;
      renewal.stop();
      sync.reset();
    },
    stop() {
      for (const stop of stops) stop();
      session.stop();
      renewal.stop();
      sync.stop();
      channel.close();
      delivery.stop();
    },
  };
};
