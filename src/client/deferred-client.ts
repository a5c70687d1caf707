import { isVisitorId } from '../protocol/index.ts';
import type { Banner, BannerEvent } from './banner.ts';
import { createSnooze } from './banners/snooze.ts';
import { recordAcceptedDismissals } from './banners/sync-response.ts';
import { createSyncScheduler, type SyncScheduler } from './banners/sync-scheduler.ts';
import { createDeferredContext, type DeferredClientOptions } from './deferred-context.ts';
import { createDelivery } from './delivery/create-delivery.ts';
import type { Delivery } from './delivery/delivery.ts';
import type { Inspector } from './inspector/inspector.ts';
import { createOpenInspector } from './inspector/open-inspector.ts';
import { isUnavailable } from './load-chunk.ts';
import { CONSENT, type OnInvalidOption, resolveOptions } from './options/option-schema.ts';
import { createImpressions } from './placements/impressions.ts';
import type { ShouldShow } from './placements/should-show.ts';
import { withTimeout } from './platform/pauses.ts';
import type { SessionAddition, SessionPart, SessionPartChunk } from './session-part.ts';

type VisitorsChunk = typeof import('./user/visitors.ts');

/**
 * Chunks that this chunk loads. `create-placard.ts` loads this chunk: once the cached banners are on the page, after 250 ms, or
 * with the first event, decision or other call that needs it. Other code is in this chunk, in the first one if a cached banner
 * needs it, or in the chunk of an addition. `test/package/chunks.test.ts` compares this table with the build.
 */
const CHUNKS = {
  /**
   * Loads on a response other than 202 with all events accepted, a failed sync, an expired banner, `refresh()`, `inspect()`, a damaged
   * or expired record, an expired claim, a rejected event or dead letter, a pause, a full disk, too many appended events, the
   * return from memory mode, `diagnostics()`, `disable('purge')`, `shouldShow`, or a service worker. Events without a confirmation
   * stay in the log until it is loaded.
   */
  trouble: () => import('./trouble-chunk.ts'),
  /** Loads on `inspect()`, or if the page was opened by a preview link. */
  inspector: () => import('./inspector/inspector.ts'),
  /** Loads if `debug` is set, an option is invalid, the key is a server key, or another client of the app runs on the page. */
  debug: () => import('./debug.ts'),
};

/** Key on `globalThis`, because hot reload and a second copy of the package evaluate this module again. */
const RUNNING = Symbol.for('placard.running');

/** Maximum wait for the visitor or the log, which may still complete later. */
const STORE_TIMEOUT_MS = 2_000;

/** API of the deferred chunk for the first chunk. */
export interface DeferredClient extends Pick<SyncScheduler, 'queue' | 'notifyTabs' | 'leaveSession'> {
  delivery: Delivery;
  /** Syncs these placements now, or all mounted ones, if the budget allows it. */
  refresh(placementIds?: string[]): Promise<void>;
  /** Stores the impression, unless it was already counted in this session. */
  countImpression(banner: Banner, userId: string, at: number | undefined): Promise<BannerEvent | null>;
  /**
   * Joins or begins the session of the current user, which syncs the mounted placements. Deletes the data of former users of
   * this app, except at the start of a page without a user, who may be about to sign in again.
   */
  startSession(isSwitch: boolean): Promise<void>;
  /** Hides the banner for `hours` on this device. Sends no event. */
  snooze(banner: Banner, hours: number): Promise<void>;
  /** Calls `shouldShow` again for blocked banners. */
  reevaluate(): void;
  inspect(): Promise<Inspector>;
  stop(): void;
}

/**
 * Creates everything that can wait until a cached banner is on the page: session, sync, viewability, delivery. Only this file
 * depends on all of them.
 */
export const createDeferredClient = (options: DeferredClientOptions): DeferredClient => {
  /** Ends the wait for the first session, which has begun or cannot begin. */
  let begin: () => void = () => undefined;
  /** `undefined` after the wait. The session syncs the mounted placements, so an earlier refresh needs no request. */
  let begun: Promise<void> | undefined = new Promise((resolve) => {
    begin = () => {
      begun = undefined;
      resolve();
    };
  });
  const context = createDeferredContext(options);
  const { settings, permission, cache, placements, notify, fail } = context;
  const { lifecycle, userTokens, loadChunk, inBackground } = context;
  const { isStopped, isActive } = permission;
  const loadTrouble = () => loadChunk(CHUNKS.trouble);
  const { platform } = settings;
  const { now, after } = platform;
  const inspector = createOpenInspector(context, () => loadChunk(CHUNKS.inspector));

  const withDebug = (work: (chunk: typeof import('./debug.ts')) => void): void =>
    inBackground(loadChunk(CHUNKS.debug).then(work));
  const onInvalidOption: OnInvalidOption = (option, rule) =>
    withDebug(({ createReportInvalid }) => createReportInvalid(notify)(option, rule));

  const scheduler = createSyncScheduler(context, loadTrouble, onInvalidOption);

  const delivery = createDelivery(
    {
      ...settings,
      ...platform,
      ...context,
      clock: platform,
      onInvalidOption,
      onDismissed: (dismissals) =>
        inBackground(recordAcceptedDismissals(permission, cache, dismissals, now())),
      // The cache is less valuable than events, because a sync restores it.
      evictCache: async () => (await scheduler.trouble()).evictCache(),
    },
    loadTrouble,
  );

  let visitors: Promise<() => Promise<void>> | undefined;
  const loadVisitors = async () => {
    const { createVisitors } = (await loadChunk(settings.use.visitors!)) as VisitorsChunk;
    return createVisitors({ ...context, isVisitorId }, delivery);
  };
  /** Updates the visitor. After a timeout, the session begins without the visitor. */
  const updateVisitor = async (): Promise<void> => {
    if (!settings.use.visitors || !permission.canWrite()) return;
    try {
      visitors ??= loadVisitors();
      const updating = visitors.then((update) => update());
      await withTimeout(updating, after, STORE_TIMEOUT_MS, 'The visitor');
    } catch (cause) {
      visitors = undefined;
      if (!isUnavailable(cause)) fail('internal', 'The visitor failed to load', cause);
    }
  };
  let shouldShow: ShouldShow | undefined;
  /** Loads `shouldShow` handling. Slots stay unchanged until then. */
  const loadShouldShow = async (): Promise<void> => {
    if (!settings.shouldShow || shouldShow) return;
    const { createShouldShow } = await loadTrouble();
    shouldShow ??= createShouldShow(context);
    placements.updateAll();
  };
  const reevaluate = (): void => {
    if (shouldShow) shouldShow.reevaluate();
    else inBackground(loadShouldShow());
  };
  const impressions = createImpressions(context, scheduler, delivery.capture, () => shouldShow);

  const additions: SessionAddition[] = Object.values(settings.use);
  const parts = new Map<SessionAddition, SessionPart>();
  const startPart = async (addition: SessionAddition): Promise<void> => {
    if (!addition.load || !isActive() || permission.userId() === null) return;
    const { create } = (await loadChunk(addition.load)) as SessionPartChunk;
    if (isStopped()) return;
    const part = parts.get(addition) ?? create({ ...context, ...addition, scheduler });
    parts.set(addition, part);
    await part.start();
  };

  /** Reports a failure of the log, which must not block banners. */
  const reportLogFailure = (cause: unknown): void => fail('storage', 'Event log unavailable', cause);

  /** Reads the log before anything is stored, because the page may have missed an opt-out while it was hidden. */
  const runAfterLogRead = async (work: () => Promise<unknown>): Promise<void> => {
    // Without consent, not even an empty database is created.
    if (isActive() && (await delivery.readConsent()) && isActive()) await work();
  };

  /** Registers the client on this page. Returns the function that removes it. */
  const registerClient = (): (() => void) => {
    const { logName, appId } = settings;
    const page = globalThis as { [RUNNING]?: string[] };
    page[RUNNING] ??= [];
    const running = page[RUNNING];
    if (running.includes(logName)) withDebug(({ reportSecondClient }) => reportSecondClient(appId, fail));
    running.push(logName);
    return () => void running.splice(running.indexOf(logName), 1);
  };

  const stops = [
    ...(isStopped() ? [] : [registerClient()]),
    lifecycle.on('visible', () => inBackground(runAfterLogRead(scheduler.resume))),
    // Applies changes that waited until they are out of sight. Nothing is stored here, because an open transaction on page exit
    // would exclude the page from the back/forward cache.
    lifecycle.on('hidden', placements.updateAll),
    lifecycle.on('online', scheduler.retry),
    lifecycle.on('restored', () => inBackground(runAfterLogRead(cache.reread))),
  ];
  inBackground(inspector.start({ scheduler, impressions }));
  // Always checked, because any visitor of the page could use a server key, and a misspelled consent disables everything.
  // `userToken` is an option of the service worker only, and the service could reject every event of the page.
  const isWrong =
    /server/.test(String(settings.apiKey)) || !CONSENT.includes(settings.consent) || 'userToken' in settings;
  if (settings.debug || isWrong)
    withDebug(({ validateOptions, printNotices }) => {
      validateOptions(settings, { resolveOptions, CONSENT }, notify);
      if (settings.debug) printNotices(context);
    });
  inBackground(loadShouldShow());

  return {
    delivery,
    queue: scheduler.queue,
    async refresh(names) {
      reevaluate();
      const placementIds = scheduler.addRequested(names);
      const isFirst = begun !== undefined;
      await begun;
      if (isStopped()) return;
      if (isFirst && isActive() && permission.userId() !== null) await scheduler.settled();
      else await (await scheduler.trouble()).refresh(placementIds);
    },
    notifyTabs: scheduler.notifyTabs,
    leaveSession: scheduler.leaveSession,
    countImpression: impressions.count,
    async startSession(isSwitch) {
      try {
        await lifecycle.whenActivated();
        await updateVisitor();
        if (permission.update()) await cache.open();
        // Reading the log applies an opt-out of an earlier visit.
        if (isActive())
          await withTimeout(delivery.readConsent(), after, STORE_TIMEOUT_MS, 'The log').catch(
            reportLogFailure,
          );
        if (userTokens.resume()) inBackground(delivery.flush());
        await scheduler.startSession(delivery.queued);
        for (const addition of additions) inBackground(startPart(addition));
      } finally {
        begin();
      }
      if (!isSwitch && permission.userId() === null) return;
      // Another tab may use another account, except after a switch.
      const others = isSwitch || !permission.canWrite() ? [] : await scheduler.storedUsers();
      await context.deleteStored();
      scheduler.announceDeleted(others);
    },
    reevaluate,
    snooze: createSnooze(context, scheduler.notifyTabs),
    inspect: () => inspector.open({ scheduler, impressions }),
    stop() {
      begin();
      for (const stop of stops) stop();
      for (const part of [...parts.values(), impressions, inspector, scheduler, delivery]) part.stop();
    },
  };
};
