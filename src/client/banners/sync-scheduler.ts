import type { BannerEvent } from '../banner.ts';
import type { DeferredContext } from '../deferred-context.ts';
import { sharedFunctions } from '../delivery/trouble/shared-functions.ts';
import { bannerOptions, type OnInvalidOption } from '../options/option-schema.ts';
import { createTabChannel } from '../platform/page.ts';
import { withTimeout } from '../platform/pauses.ts';
import type { StoreKey } from '../platform/store.ts';
import { createSession } from './session.ts';
import { createSync } from './sync.ts';
import { createStoreResponse, type SyncResult } from './sync-response.ts';
import type { createSyncTrouble, SyncTrouble } from './sync-trouble.ts';

/** Maximum wait for the log, in milliseconds. */
const LOG_TIMEOUT_MS = 2_000;

interface TabMessage {
  /** User whose record has changed. */
  changedFor?: string | null;
  /** Users whose records were deleted by a page that started for another user. */
  deletedFor?: unknown[];
}

/** Part of the trouble chunk that the scheduler needs. */
interface SyncTroubleChunk {
  createSyncTrouble: typeof createSyncTrouble;
}

/** Updates the cache when a session begins, a banner expires, the host requests an update, or another tab changes the record. */
export const createSyncScheduler = (
  context: DeferredContext,
  loadTrouble: () => Promise<SyncTroubleChunk>,
  onInvalidOption: OnInvalidOption,
) => {
  const { settings, permission, cache, store, placements, requested, lifecycle, inBackground, notify } =
    context;
  const { platform } = settings;
  const { after, openChannel } = platform;
  const { isVisible } = lifecycle;
  const rule = bannerOptions(settings.banners, onInvalidOption);
  const channel = createTabChannel<TabMessage>(`placard-banners:${settings.appId}`, lifecycle, openChannel);
  /**
   * Whether `startSession` has run for the current user. It is called twice for a user who is identified right after the client
   * was created. The session may have begun earlier, by an impression or a return to the page while the start waited for the
   * visitor or the log.
   */
  let isStarted = false;
  let onSession: () => void = () => undefined;

  const notifyTabs = (): void => {
    const userId = permission.userId();
    if (userId !== null) channel.post({ changedFor: userId });
  };
  channel.subscribe(({ changedFor, deletedFor }) => {
    if (changedFor === permission.userId()) inBackground(cache.reread());
    // If two tabs use two accounts, this page's user is still signed in.
    if (deletedFor?.includes(permission.userId())) inBackground(cache.writeAgain());
  });

  /** Placements that the host requested by name. */
  const requestedByHost = new Set<string>();
  /**
   * Returns the mounted placements and those named by the host. Clears the results of all others, so that the next mount requests
   * them.
   */
  const getPlacementsToSync = (): Set<string> => {
    const mounted = new Set(placements.slots().map(({ placementId }) => placementId));
    for (const placementId of requested.placements)
      if (!mounted.has(placementId) && !requestedByHost.has(placementId))
        requested.placements.delete(placementId);
    return requested.placements;
  };

  let loaded: SyncTrouble | undefined;
  const trouble = async (): Promise<SyncTrouble> => {
    const { createSyncTrouble } = await loadTrouble();
    loaded ??= createSyncTrouble(sharedFunctions, {
      ...context,
      rule,
      session,
      sync,
      getPlacements: getPlacementsToSync,
    });
    return loaded;
  };
  const storeResponse = createStoreResponse(permission, cache, notify);
  const onResponse = (result: SyncResult): void => {
    // A listener of a notice about the response may have changed the user.
    if (result.userId !== permission.userId()) return;
    for (const placementId of result.banners.keys()) requested.synced.add(placementId);
    inBackground(storeResponse(result).then(notifyTabs));
  };
  const sync = createSync({ ...context, onResponse, trouble });
  const session = createSession({
    ...platform,
    cache,
    tabKey: permission.tabKey,
    rule,
    mayWrite: permission.mayWrite,
    isVisible,
    onStart() {
      sync.queue(getPlacementsToSync());
      onSession();
      notifyTabs();
    },
  });

  return {
    notifyTabs,
    /** Stores a response. */
    onResponse,
    /** Returns the users of this app with a record on the device. */
    async storedUsers(): Promise<unknown[]> {
      const scope = cache.key('').slice(0, -1);
      let found: [StoreKey, unknown][] = [];
      await cache.waitAtMost(async () => {
        found = await store.entries({ from: scope, to: [...scope, '\uffff'] });
      });
      return found.map(([key]) => [key].flat().at(-1));
    },
    /** Tells the other tabs that the records of these users were deleted. */
    announceDeleted(users: unknown[]): void {
      const others = users.filter((each) => each !== permission.userId());
      if (others.length > 0) channel.post({ deletedFor: others });
    },
    /** Calls `listener` when a session begins. In a new session, impressions count again. */
    onSession(listener: () => void): void {
      onSession = listener;
    },
    /**
     * Joins or begins the session of the current user, which syncs the mounted placements. `queued` returns the undelivered
     * events of a user.
     */
    async startSession(queued: (userId: string) => Promise<BannerEvent[]>): Promise<void> {
      const userId = permission.userId();
      if (!permission.isActive() || userId === null || isStarted) return;
      isStarted = true;
      const found = withTimeout(queued(userId), after, LOG_TIMEOUT_MS, 'The log');
      inBackground(found);
      // A failing log must not block banners.
      const dismissals = (await found.catch(() => [])).filter(({ type }) => type === 'dismiss');
      if (permission.userId() !== userId) return;
      if (dismissals.length > 0) await cache.dismiss(dismissals);
      if (permission.isActive() && permission.userId() === userId) await session.start();
    },
    /**
     * Syncs at the end of the task, without a charge to the budget. Placements requested before the session are synced when it
     * begins, because until then the user's last choice may be unknown.
     */
    queue(placementId: string): void {
      if (session.hasBegun()) sync.queue([placementId]);
    },
    requested: getPlacementsToSync,
    /** Adds placements that the host requests by name. Returns them; all placements to sync if it names none. */
    addRequested(named: string[] | undefined): string[] {
      // A JavaScript host may pass a single string, which would be iterated by character.
      const placementIds = [named ?? []].flat();
      for (const placementId of placementIds) {
        requestedByHost.add(placementId);
        requested.placements.add(placementId);
      }
      return named === undefined ? [...getPlacementsToSync()] : placementIds;
    },
    /** Syncs the placement of an expired banner, if the budget allows it. */
    refetchExpired: (placementId: string): void =>
      inBackground(trouble().then(({ refetchExpired }) => refetchExpired(placementId))),
    /** Resolves when all pending requests have succeeded or failed. */
    settled: (): Promise<void> => sync.now([]),
    trouble,
    /** Called when the page is visible again. */
    resume(): Promise<unknown> {
      sync.retry();
      loaded?.resume();
      return session.touch();
    },
    retry: sync.retry,
    dedupName: session.dedupName,
    /** Leaves the session of the former user and cancels its requests. */
    leaveSession(): void {
      isStarted = false;
      session.leave();
      requested.synced.clear();
      loaded?.stop();
      sync.reset();
    },
    stop(): void {
      session.stop();
      loaded?.stop();
      sync.reset();
      channel.close();
    },
  };
};

export type SyncScheduler = ReturnType<typeof createSyncScheduler>;
