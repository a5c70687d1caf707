import type { Clock } from '../platform/clock.ts';
import type { BannerCache } from './banner-cache.ts';
import type { UserRecord } from './user-record.ts';

/** Time over which requests are spread, because a campaign ends for all clients at the same moment. */
const JITTER_MS = 10_000;

interface ExpiryRefetchOptions {
  cache: BannerCache;
  after: Clock['after'];
  random: () => number;
  isVisible: () => boolean;
  /** Takes one refresh from the budget if the record needs one. */
  spend: (isNeeded: (record: UserRecord) => boolean) => Promise<boolean>;
  /** Time until an empty budget gets one refresh, in milliseconds. */
  refreshIntervalMs: number;
  queue: (placementIds: string[]) => void;
}

/**
 * Syncs the placements of banners that expire on the page. While the page is visible, one tab syncs them all, within the refresh
 * budget.
 */
export const createExpiryRefetch = (options: ExpiryRefetchOptions) => {
  const { cache, after, random, isVisible, spend, refreshIntervalMs, queue } = options;
  const expired = new Set<string>();
  let cancel: (() => void) | undefined;
  /** Number of calls of `stop()`. A request from before the last call belongs to a former user. */
  let stops = 0;

  const isExpiredIn = (record: Readonly<UserRecord>, placementId: string): boolean => {
    const banner = record.banners.get(placementId)?.banner;
    return banner != null && cache.isExpired(banner);
  };

  const refetchExpired = async (): Promise<void> => {
    cancel = undefined;
    if (!isVisible()) return;
    const stopsBefore = stops;
    const placementIds = [...expired];
    expired.clear();
    // The tab that removes the banners from the record makes the request.
    const isMine = await spend((record) => {
      const found = placementIds.filter((placementId) => isExpiredIn(record, placementId));
      for (const placementId of found) record.banners.get(placementId)!.banner = null;
      return found.length > 0;
    });
    if (stops !== stopsBefore) return;
    if (isMine) return queue(placementIds);
    for (const placementId of placementIds)
      if (isExpiredIn(cache.record(), placementId)) expired.add(placementId);
    schedule(refreshIntervalMs);
  };

  const schedule = (delayMs: number): void => {
    if (expired.size > 0) cancel ??= after(delayMs, refetchExpired);
  };

  return {
    /** Syncs the placement of the expired banner. */
    request(placementId: string): void {
      expired.add(placementId);
      schedule(random() * JITTER_MS);
    },
    /** Called when the page is visible again. */
    resume: () => schedule(random() * JITTER_MS),
    stop(): void {
      stops += 1;
      expired.clear();
      cancel?.();
      cancel = undefined;
    },
  };
};

export type ExpiryRefetch = ReturnType<typeof createExpiryRefetch>;
