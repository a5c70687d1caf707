import type { Banner } from '../banner.ts';
import type { BannerEvent } from '../banner-event.ts';
import { acceptDelivered } from '../banners/accept-dismissals.ts';
import { forgetUsers } from '../banners/forget-users.ts';
import { focusOn, isFocus } from '../banners/overlay.ts';
import { createUpdates, type Updates } from '../banners/updates.ts';
import { createDelivery, type Delivery } from '../delivery/index.ts';
import type { WhoIsHere } from '../first/who-is-here.ts';
import type { Inspector } from '../inspector/index.ts';
import type { PlacardOptions } from '../options.ts';
import { createImpressions } from '../placements/impressions.ts';
import { forgetLocal } from '../platform/forget-local.ts';
import { withTimeout } from '../platform/timeout.ts';
import { createPreview } from '../preview/preview.ts';
import { createVisitors } from '../visitors/visitors.ts';
import { judgeOptions } from './judge-options.ts';
import { createLateContext, type LateClientOptions } from './late-context.ts';
import { rememberNotices } from './recent-notices.ts';
import { createSandboxedCapture } from './sandboxed-capture.ts';

/** A store that has not answered by then is waited for no longer; it may still do so later. */
const STORE_TIMEOUT_MS = 2_000;

/** The delivery's verbs, of which `capture` leaves out the events of a sandboxed banner, and those of the other parts. */
export interface LateClient extends Delivery, Pick<Updates, 'want' | 'notifyTabs' | 'forgetUser'> {
  /** Syncs these placements now, or all that are mounted, if the budget allows it. */
  refresh(placementIds?: string[]): Promise<void>;
  /** Stores the impression, unless it was counted in this session before. */
  countImpression(banner: Banner, userId: string): Promise<BannerEvent | null>;
  /** Deletes what is stored of everyone but the present user; boxes too, where nothing may be kept. */
  forgetFormerUsers(): Promise<void>;
  /**
   * Joins or begins the session of the present user, which syncs what is mounted. The former users of this app leave nothing
   * behind; but at the start of a page without a user one of them may be coming back.
   */
  startSession(user: WhoIsHere, isSwitch: boolean): Promise<void>;
  /** True where nothing of the banner's events is stored. */
  isSandboxed(banner: Banner): boolean;
  inspect(): Promise<Inspector>;
}

/** All that can wait until a cached banner is on the page: session, sync, viewability, delivery. Only this file knows all of them. */
export const createLateClient = (options: LateClientOptions): LateClient => {
  let isStopped = false;
  /** The page's first session has begun, or cannot: until then it is what a refresh would be. */
  let begin: () => void = () => undefined;
  let begun: Promise<void> | undefined = new Promise((resolve) => {
    begin = () => {
      begun = undefined;
      resolve();
    };
  });
  const context = createLateContext(options, () => isStopped);
  const { settings, consent, cache, placements, requested, notify, fail } = context;
  const { lifecycle, userTokens, boxMemory, isActive, inBackground } = context;
  const { platform } = settings;
  const { now, after } = platform;
  const notices = rememberNotices(context);
  judgeOptions(settings as PlacardOptions, notify);

  const forgetFormerUsers = async (): Promise<void> => {
    if (consent.state === 'pending') return;
    if (!isActive()) {
      boxMemory.forget();
      if (settings.visitors) forgetLocal(context.visitorKey);
    }
    // An opt-out and the eviction of the cache wait for this, and must not wait for ever.
    const forgetting = forgetUsers(context.store, cache.key, cache.userId);
    await withTimeout(forgetting, after, STORE_TIMEOUT_MS, 'The banner store').catch(cache.onError);
  };

  const updates = createUpdates(context);

  const delivery = createDelivery({
    api: { ...settings, userTokens, fetch: platform.fetch },
    consent,
    options: settings.delivery,
    platform: { ...platform, clock: platform, lifecycle },
    host: {
      notify,
      fail,
      correct: settings.correct,
      onDelivered: (events) => inBackground(acceptDelivered(cache, events, now())),
      // The cache is worth less than an event: a sync brings it back.
      async evict() {
        await cache.change((record) => {
          record.banners.clear();
        });
        await forgetFormerUsers();
        inBackground(updates.bringBack());
      },
    },
    isWorker: false,
  });

  const meetVisitor = createVisitors(context, delivery);
  const preview = createPreview(context);
  const sandboxed = createSandboxedCapture(cache, delivery);
  const impressions = createImpressions(context, updates, sandboxed.capture);

  const inspect = async (): Promise<Inspector> => {
    const { createInspector, createSandbox } = await import('../inspector/index.ts');
    const focus = { focusOn, isFocus };
    const sandbox = sandboxed.open(() =>
      createSandbox({ ...context, ...focus, countAnew: impressions.countAnew }),
    );
    const { recent } = notices;
    return createInspector({
      ...context,
      ...focus,
      sandbox,
      updates,
      impressions,
      recent,
      preview: preview.show,
    });
  };

  const debug = async (): Promise<void> => {
    const { printNotices } = await import('./debug.ts');
    printNotices(context);
  };

  /** A log that stops answering keeps no user from a banner. */
  const logFailed = (cause: unknown): void => fail('storage', 'The log did not answer', cause);

  /** A page that was away may have missed an opt-out, and the log knows of it: it is read before anything is stored. */
  const comeBack = async (work: () => Promise<unknown>): Promise<void> => {
    // Without consent not even an empty database is made.
    if (isActive() && (await delivery.mayAct()) && isActive()) await work();
  };

  const stops = [
    lifecycle.on('visible', () => inBackground(comeBack(updates.resume))),
    // The moment for what had to wait until it is out of sight. Nothing is stored here: a transaction that is open when
    // the page leaves would cost it the back/forward cache.
    lifecycle.on('hidden', placements.considerAll),
    lifecycle.on('online', updates.hurry),
    lifecycle.on('restored', () => inBackground(comeBack(cache.reread))),
  ];
  inBackground(preview.start());
  if (settings.debug) inBackground(debug());

  return {
    ...delivery,
    want: updates.want,
    async refresh(names = [...requested.placements]) {
      // In JavaScript a host may pass one alone, and a text would be taken letter by letter.
      const placementIds = [names].flat();
      for (const placementId of placementIds) requested.placements.add(placementId);
      const isFirst = begun !== undefined;
      await begun;
      if (isStopped) return;
      if (!isActive()) fail('sync', 'No refresh: there is no consent');
      else if (cache.userId() === null) fail('sync', 'No refresh: no user is signed in');
      else if (isFirst) await updates.answered();
      else if (placementIds.length > 0) await updates.refresh(placementIds);
    },
    notifyTabs: updates.notifyTabs,
    forgetUser: updates.forgetUser,
    capture: sandboxed.capture,
    countImpression: impressions.count,
    forgetFormerUsers,
    async startSession(user, isSwitch) {
      try {
        await lifecycle.whenActivated();
        await meetVisitor(user.signedIn);
        if (cache.userId() !== user.id()) await user.openCache();
        // An opt-out of an earlier visit stays one: reading it reports it.
        if (isActive())
          await withTimeout(delivery.mayAct(), after, STORE_TIMEOUT_MS, 'The log').catch(logFailed);
        if (userTokens.resume()) inBackground(delivery.flush());
        await updates.startSession(delivery.queued);
      } finally {
        begin();
      }
      if (isSwitch || cache.userId() !== null) await forgetFormerUsers();
    },
    isSandboxed: ({ id }) => sandboxed.isSandboxed(id),
    inspect,
    stop() {
      isStopped = true;
      begin();
      for (const stop of stops) stop();
      for (const part of [impressions, preview, updates, delivery, notices]) part.stop();
    },
  };
};
