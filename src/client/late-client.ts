import { isVisitorId, PLACEMENTS_PATH, VISITOR_JOIN_PATH } from '../protocol/index.ts';
import type { Banner, BannerEvent } from './banner.ts';
import { acceptDismissed } from './banners/answers.ts';
import { createSnooze } from './banners/snooze.ts';
import { createUpdates, type Updates } from './banners/updates.ts';
import { createLoadChunk } from './chunks.ts';
import { createDelivery } from './delivery/create-delivery.ts';
import type { Delivery, DeliverySetup } from './delivery/delivery.ts';
import type { Inspector } from './inspector/inspector.ts';
import { createOpenInspector } from './inspector/open-inspector.ts';
import { createLateContext, type LateClientOptions } from './late-context.ts';
import { loadOnce } from './load-once.ts';
import { chosenOptions, notifyWrong } from './options/choices.ts';
import { createImpressions } from './placements/impressions.ts';
import type { InsertPlacements } from './placements/insert-placements.ts';
import type { MayShow } from './placements/may-show.ts';
import { withTimeout } from './platform/waits.ts';
import { registerClient } from './running-clients.ts';

type VisitorsChunk = typeof import('./user/visitors.ts');
type SelectorsChunk = typeof import('./placements/insert-placements.ts');

/** A store that has not answered by then is waited for no longer; it may still do so later. */
const STORE_TIMEOUT_MS = 2_000;

/** The part of the client that is in the late chunk, as the first chunk calls it. */
export interface LateClient extends Pick<Updates, 'want' | 'notifyTabs' | 'forgetUser'> {
  delivery: Delivery;
  /** Syncs these placements now, or all that are mounted, if the budget allows it. */
  refresh(placementIds?: string[]): Promise<void>;
  /** Stores the impression, unless it was counted in this session before. */
  countImpression(banner: Banner, userId: string, at: number | undefined): Promise<BannerEvent | null>;
  /**
   * Joins or begins the session of the current user, which syncs what is mounted. The former users of this app leave nothing
   * behind; but at the start of a page without a user one of them may be coming back.
   */
  startSession(isSwitch: boolean): Promise<void>;
  /** Hides the banner for so many hours on this device, and sends nothing. */
  snooze(banner: Banner, hours: number): Promise<void>;
  /** Asks `mayShow` again where it keeps a banner away. */
  reconsider(): void;
  inspect(): Promise<Inspector>;
  stop(): void;
}

/** All that can wait until a cached banner is on the page: session, sync, viewability, delivery. Only this file knows all of them. */
export const createLateClient = (options: LateClientOptions): LateClient => {
  /** Ends the wait for the page's first session: it has begun, or cannot begin. */
  let begin: () => void = () => undefined;
  /** `undefined` when that wait is over. The session syncs what is mounted, so a refresh before it needs no request of its own. */
  let begun: Promise<void> | undefined = new Promise((resolve) => {
    begin = () => {
      begun = undefined;
      resolve();
    };
  });
  const context = createLateContext(options);
  const { settings, consent, user, cache, placements, notify, fail } = context;
  const { lifecycle, userTokens, isStopped, isActive, inBackground } = context;
  const loadChunk = createLoadChunk(options.importAgain);
  const trouble = loadOnce(() => loadChunk('trouble'), fail);
  const { platform } = settings;
  const { now, after } = platform;
  const inspector = createOpenInspector(context, loadChunk);

  const updates = createUpdates(context, trouble);

  const setup: DeliverySetup = {
    api: { ...settings, fetch: platform.fetch },
    userTokens,
    consent,
    options: settings.delivery,
    platform: { ...platform, clock: platform, lifecycle },
    host: {
      notify,
      fail,
      correct: settings.correct,
      onDismissed: (dismissals) => inBackground(acceptDismissed(user, cache, dismissals, now())),
      // The cache is worth less than an event: a sync brings it back.
      async evict() {
        await cache.change((record) => {
          record.banners.clear();
        });
        await context.forgetStored();
        inBackground(updates.bringBack());
      },
    },
    loadHandOff: trouble,
    isWorker: false,
    isStopped,
  };
  const delivery = createDelivery(setup, trouble);

  let visitors: Promise<() => Promise<void>> | undefined;
  const loadVisitors = async () => {
    const { createVisitors } = (await options.importAgain(settings.use.visitors!)) as VisitorsChunk;
    return createVisitors({ ...context, isVisitorId, joinPath: VISITOR_JOIN_PATH }, delivery);
  };
  /** A session begins without a visitor who takes longer. */
  const meetVisitor = async (): Promise<void> => {
    if (!settings.use.visitors || !context.mayWrite()) return;
    try {
      visitors ??= loadVisitors();
      const meeting = visitors.then((meet) => meet());
      await withTimeout(meeting, after, STORE_TIMEOUT_MS, 'The visitor');
    } catch (cause) {
      visitors = undefined;
      // `SecurityError` or `QuotaExceededError`.
      const isBlocked = cause instanceof DOMException;
      const message = isBlocked
        ? 'No visitor: localStorage is blocked or full'
        : 'The visitor is not known yet';
      fail(isBlocked ? 'storage' : 'internal', message, cause);
    }
  };
  let gate: MayShow | undefined;
  /** Until it is loaded the slots stay as they are. */
  const loadGate = async (): Promise<void> => {
    if (!settings.mayShow || gate) return;
    const { createMayShow } = await trouble();
    gate ??= createMayShow(context);
    placements.considerAll();
  };
  const reconsider = (): void => {
    if (gate) gate.reconsider();
    else inBackground(loadGate());
  };
  const impressions = createImpressions(context, updates, delivery.capture, () => gate);

  let inserted: InsertPlacements | undefined;
  const insertPlacements = async (): Promise<void> => {
    const { selectors } = settings.use;
    if (!selectors || !isActive() || user.id() === null) return;
    const { createInsertPlacements } = (await options.importAgain(selectors.load)) as SelectorsChunk;
    if (isStopped()) return;
    inserted ??= createInsertPlacements({ ...context, hooks: selectors.hooks, listPath: PLACEMENTS_PATH });
    await inserted.start();
  };

  const debug = async (): Promise<void> => {
    const { validateOptions, printNotices } = await loadChunk('debug');
    validateOptions(settings, { chosenOptions, notifyWrong }, notify);
    if (settings.debug) printNotices(context);
  };

  /** A log that stops answering keeps no user from a banner. */
  const logFailed = (cause: unknown): void => fail('storage', 'The log did not answer', cause);

  /** A page that was away may have missed an opt-out, and the log knows of it: it is read before anything is stored. */
  const comeBack = async (work: () => Promise<unknown>): Promise<void> => {
    // Without consent not even an empty database is made.
    if (isActive() && (await delivery.mayAct()) && isActive()) await work();
  };

  const stops = [
    ...(isStopped() ? [] : [registerClient(settings, fail)]),
    lifecycle.on('visible', () => inBackground(comeBack(updates.resume))),
    // The moment for what had to wait until it is out of sight. Nothing is stored here: a transaction that is open when
    // the page leaves would cost it the back/forward cache.
    lifecycle.on('hidden', placements.considerAll),
    lifecycle.on('online', updates.hurry),
    lifecycle.on('restored', () => inBackground(comeBack(cache.reread))),
  ];
  inBackground(inspector.start({ updates, impressions }));
  // Anyone who opens the page could use a server's key, and a misspelled consent disables everything.
  const isWrong =
    /server/.test(String(settings.apiKey)) || !/^(enabled|disabled|pending)$/.test(settings.consent);
  if (settings.debug || isWrong) inBackground(debug());
  inBackground(loadGate());

  return {
    delivery,
    want: updates.want,
    async refresh(names) {
      reconsider();
      // In JavaScript a host may pass one alone, and a text would be taken letter by letter.
      updates.name([names ?? []].flat());
      const placementIds = names === undefined ? [...updates.wanted()] : [names].flat();
      const isFirst = begun !== undefined;
      await begun;
      if (isStopped()) return;
      if (!isActive()) fail('sync', 'No refresh: there is no consent');
      else if (user.id() === null) fail('sync', 'No refresh: no user is signed in');
      else if (isFirst) await updates.answered();
      else if (placementIds.length > 0) await updates.refresh(placementIds);
    },
    notifyTabs: updates.notifyTabs,
    forgetUser: updates.forgetUser,
    countImpression: impressions.count,
    async startSession(isSwitch) {
      try {
        await lifecycle.whenActivated();
        await meetVisitor();
        if (user.look()) await cache.open();
        // An opt-out of an earlier visit stays one: reading it reports it.
        if (isActive())
          await withTimeout(delivery.mayAct(), after, STORE_TIMEOUT_MS, 'The log').catch(logFailed);
        if (userTokens.resume()) inBackground(delivery.flush());
        await updates.startSession(delivery.queued);
        inBackground(insertPlacements());
      } finally {
        begin();
      }
      if (!isSwitch && user.id() === null) return;
      // Another tab may be of another account. After a switch there is none.
      const others = isSwitch || !context.mayWrite() ? [] : await updates.storedUsers();
      await context.forgetStored();
      updates.tellForgotten(others);
    },
    reconsider,
    snooze: createSnooze(context, updates.notifyTabs),
    inspect: () => inspector.open({ updates, impressions }),
    stop() {
      begin();
      inserted?.stop();
      for (const stop of stops) stop();
      for (const part of [impressions, inspector, updates, delivery]) part.stop();
    },
  };
};
