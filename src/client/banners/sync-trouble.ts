import type { DeferredContext } from '../deferred-context.ts';
import type { SharedFunctions } from '../delivery/trouble/shared-functions.ts';
import type { BannerOptions } from '../options/option-schema.ts';
import { createExpiryRefetch } from './expiry-refetch.ts';
import { createRefreshBudget, refill } from './refresh-budget.ts';
import type { SyncSession } from './session.ts';
import type { Sync } from './sync.ts';
import { createSyncFailures } from './sync-failure.ts';

interface SyncTroubleOptions extends DeferredContext {
  rule: BannerOptions;
  session: Pick<SyncSession, 'change'>;
  sync: Sync;
  /** Returns the mounted placements and those named by the host. */
  getPlacements: () => Iterable<string>;
}

/** Creates what a sync needs after a failure, after a banner expired, or for a request of the host. */
export const createSyncTrouble = (shared: SharedFunctions, options: SyncTroubleOptions) => {
  const { settings, permission, cache, lifecycle, userTokens, inBackground, fail } = options;
  const { rule, session, sync, getPlacements } = options;
  const { platform } = settings;
  const { now } = platform;
  const { isVisible } = lifecycle;
  const { spend, spendAll } = createRefreshBudget({ rule, now, change: session.change });
  const expiryRefetch = createExpiryRefetch({
    ...platform,
    ...rule,
    cache,
    isVisible,
    spend,
    queue: sync.queue,
  });

  return {
    ...createSyncFailures(shared, settings, userTokens, () => inBackground(spendAll())),
    refetchExpired(placementId: string): void {
      if (!permission.isStopped()) expiryRefetch.request(placementId);
    },
    /** Called when the page is visible again. */
    resume: expiryRefetch.resume,
    stop: expiryRefetch.stop,
    /** Syncs now, if the budget allows it. */
    async refresh(placementIds: string[]): Promise<void> {
      const skip = (kind: 'sync' | 'refresh-budget', reason: string): void =>
        fail(kind, `${reason}: refresh() was skipped`);
      const blockedUntilMs = sync.blockedUntilMs();
      if (permission.isStopped()) return;
      if (!permission.isActive()) skip('sync', 'There is no consent');
      else if (permission.userId() === null) skip('sync', 'No user is signed in');
      else if (placementIds.length === 0) return;
      else if (blockedUntilMs > now())
        skip('sync', `Syncs are paused until ${new Date(blockedUntilMs).toISOString()}`);
      else if (await spend()) await sync.now(placementIds);
      else skip('refresh-budget', 'The refresh budget of this session is empty');
    },
    /** Deletes cached banners, and requests them again within the budget. Without it, each event on a full disk would cost a request. */
    async evictCache(): Promise<void> {
      await cache.change((record) => {
        record.banners.clear();
      });
      await options.deleteStored();
      inBackground(
        spend().then((isGranted) => {
          if (isGranted) sync.queue(getPlacements());
        }),
      );
    },
    /** Returns the current session with its remaining refreshes; `null` before the first session. */
    session(): { id: string; endsAt: number; refreshesLeft: number } | null {
      const { session } = cache.record();
      if (!session?.id) return null;
      const endsAt = session.visibleAtMs + rule.sessionTimeoutMs;
      return { id: session.id, endsAt, refreshesLeft: refill(session, rule, now()).refreshesLeft };
    },
    blockedUntilMs: sync.blockedUntilMs,
  };
};

export type SyncTrouble = ReturnType<typeof createSyncTrouble>;
