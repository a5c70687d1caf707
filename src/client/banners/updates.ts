import type { BannerEvent } from '../banner.ts';
import { kit } from '../delivery/trouble/kit.ts';
import type { LateContext } from '../late-context.ts';
import { bannerOptions } from '../options/choices.ts';
import type { StoreKey } from '../platform/store.ts';
import { createTabChannel } from '../platform/tab-channel.ts';
import { withTimeout } from '../platform/waits.ts';
import { createStoreAnswer } from './answers.ts';
import type { createRenewal, Renewal } from './renewal.ts';
import { createSession } from './session.ts';
import { createSync } from './sync.ts';
import type { createSyncFailures, SyncFailures } from './sync-failure.ts';

/** Longest wait for the log, in milliseconds. */
const LOG_TIMEOUT_MS = 2_000;

/** The messages between the tabs of one app. */
interface TabMessage {
  /** This user's record has changed. */
  changedFor?: string | null;
  /** A page that has started for another user has deleted the records of these. */
  forgotten?: unknown[];
}

/** The part of the trouble chunk that updates need. */
interface Trouble {
  createRenewal: typeof createRenewal;
  createSyncFailures: typeof createSyncFailures;
}

/** Brings new banners into the cache: when a session begins, when one expires, when the host requests it, when a tab changes it. */
export const createUpdates = (context: LateContext, trouble: () => Promise<Trouble>) => {
  const {
    settings,
    consent,
    user,
    cache,
    store,
    placements,
    requested,
    lifecycle,
    isActive,
    inBackground,
    notify,
    fail,
  } = context;
  const { platform } = settings;
  const { now, after, openChannel } = platform;
  const { isVisible, isPrerendering } = lifecycle;
  const rule = bannerOptions(settings.banners, notify);
  const channel = createTabChannel<TabMessage>(`placard-banners:${settings.appId}`, lifecycle, openChannel);
  /**
   * `startSession` has run for the current user: one who is identified right after the client was created comes twice. The session itself
   * may have begun before it: with an impression, or a return to the page, while the start waited for the visitor or the log.
   */
  let isStarted = false;
  let onSession: () => void = () => undefined;

  const notifyTabs = (): void => {
    const userId = user.id();
    if (userId !== null) channel.post({ changedFor: userId });
  };
  channel.subscribe(({ changedFor, forgotten }) => {
    if (changedFor === user.id()) inBackground(cache.reread());
    // Two accounts in two tabs: this page's user has not left.
    if (forgotten?.includes(user.id())) inBackground(cache.writeAgain());
  });

  /** Placements that the host has requested by their names. */
  const named = new Set<string>();
  /** The placements with a slot on the page, and the named ones. Of the rest nothing is known any more: the next mount requests it. */
  const wanted = (): Set<string> => {
    const mounted = new Set(placements.slots().map(({ placementId }) => placementId));
    for (const placementId of requested.placements)
      if (!mounted.has(placementId) && !named.has(placementId)) requested.placements.delete(placementId);
    return requested.placements;
  };

  let found: SyncFailures | undefined;
  const failures = async (): Promise<SyncFailures> => {
    const { createSyncFailures } = await trouble();
    found ??= createSyncFailures(kit, settings, context.userTokens);
    return found;
  };
  const storeAnswer = createStoreAnswer(user, cache, notify);
  const sync = createSync({
    ...context,
    userId: user.id,
    canSync: () => isActive() && !isPrerendering(),
    onAnswer(result) {
      // A listener to what was wrong with the answer may have changed the user.
      if (result.userId !== user.id()) return;
      for (const placementId of result.banners.keys()) requested.answered.add(placementId);
      inBackground(storeAnswer(result).then(notifyTabs));
    },
    failures,
    onRateLimit: () => inBackground(session.spendAll()),
  });
  const session = createSession({
    ...platform,
    cache,
    tabKey: user.tabKey,
    rule,
    mayWrite: consent.mayWrite,
    isVisible,
    onStart() {
      sync.want(wanted());
      onSession();
      notifyTabs();
    },
  });
  let renewal: Renewal | undefined;
  const renew = async (placementId: string): Promise<void> => {
    const { createRenewal } = await trouble();
    if (context.isStopped()) return;
    renewal ??= createRenewal({
      ...platform,
      ...rule,
      cache,
      isVisible,
      spend: session.spend,
      ask: sync.want,
    });
    renewal.want(placementId);
  };

  return {
    notifyTabs,
    /** The users of this app whose records the device has. */
    async storedUsers(): Promise<unknown[]> {
      const scope = cache.key('').slice(0, -1);
      let found: [StoreKey, unknown][] = [];
      await cache.settleWithin(async () => {
        found = await store.entries({ from: scope, to: [...scope, '\uffff'] });
      });
      return found.map(([key]) => [key].flat().at(-1));
    },
    /** Tells the other tabs that the records of these users are gone. */
    tellForgotten(users: unknown[]): void {
      const others = users.filter((each) => each !== user.id());
      if (others.length > 0) channel.post({ forgotten: others });
    },
    /** Calls `listener` when a session begins: what was counted in the one before counts again. */
    onSession(listener: () => void): void {
      onSession = listener;
    },
    /**
     * Joins or begins the session of the current user, which syncs what is mounted. `queued` finds the events of a user that
     * are still to be delivered.
     */
    async startSession(queued: (userId: string) => Promise<BannerEvent[]>): Promise<void> {
      const userId = user.id();
      if (!isActive() || userId === null || isStarted) return;
      isStarted = true;
      const found = withTimeout(queued(userId), after, LOG_TIMEOUT_MS, 'The log');
      inBackground(found);
      // A log that does not answer keeps no user from a banner.
      const dismissals = (await found.catch(() => [])).filter(({ type }) => type === 'dismiss');
      if (user.id() !== userId) return;
      if (dismissals.length > 0) await cache.dismiss(dismissals);
      if (isActive() && user.id() === userId) await session.start();
    },
    /**
     * Syncs at the end of the task, without a cost. What is requested before the session has begun, it syncs: until then the user's last
     * choice may not be known.
     */
    want(placementId: string): void {
      if (session.hasBegun()) sync.want([placementId]);
    },
    wanted,
    /** The host requests these by their names. */
    name(placementIds: string[]): void {
      for (const placementId of placementIds) {
        named.add(placementId);
        requested.placements.add(placementId);
      }
    },
    /** Requests a successor of the banner that expired there, if the budget allows it. */
    renew: (placementId: string): void => inBackground(renew(placementId)),
    /** Resolves when what is requested now is answered, or is not. */
    answered: (): Promise<void> => sync.now([]),
    /** Syncs now, if the budget allows it. */
    async refresh(placementIds: string[]): Promise<void> {
      const blockedUntilMs = sync.blockedUntilMs();
      if (blockedUntilMs > now()) {
        const message = `No request is made before ${new Date(blockedUntilMs).toISOString()}`;
        fail('sync', message);
      } else if (!(await session.spend())) {
        fail('budget', 'The refresh budget of this session is empty');
      } else await sync.now(placementIds);
    },
    /** Requests all banners again, from the budget: where the disk stays full, each event would cost a request. */
    async bringBack(): Promise<void> {
      if (await session.spend()) sync.want(wanted());
    },
    /** The page is visible again. */
    resume(): Promise<unknown> {
      sync.hurry();
      renewal?.resume();
      return session.touch();
    },
    hurry: sync.hurry,
    nameOf: session.nameOf,
    /** For the inspector. */
    session: session.inspect,
    syncBlockedUntilMs: sync.blockedUntilMs,
    /** The user changed: nothing of the former one's is requested any more. */
    forgetUser(): void {
      isStarted = false;
      session.leave();
      requested.answered.clear();
      renewal?.stop();
      sync.reset();
    },
    stop(): void {
      session.stop();
      renewal?.stop();
      sync.reset();
      channel.close();
    },
  };
};

export type Updates = ReturnType<typeof createUpdates>;
