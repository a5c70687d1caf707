import type { Clock } from '../platform/clock.ts';
import type { BannerCache } from './banner-cache.ts';
import type { UserRecord } from './user-record.ts';

/** A campaign ends for all clients at the same moment. Their requests are distributed over this time. */
const SPREAD_MS = 10_000;

interface RenewalOptions {
  cache: BannerCache;
  after: Clock['after'];
  random: () => number;
  isVisible: () => boolean;
  /** Takes one refresh from the budget where the record needs one. */
  spend: (isNeeded: (record: UserRecord) => boolean) => Promise<boolean>;
  /** How long an empty budget takes to hold one more. */
  refreshIntervalMs: number;
  ask: (placementIds: string[]) => void;
}

/**
 * A banner that expires on the page may have a successor: one tab requests the successors of all that have expired by then,
 * paid from the refresh budget, and while the page is visible.
 */
export const createRenewal = (options: RenewalOptions) => {
  const { cache, after, random, isVisible, spend, refreshIntervalMs, ask } = options;
  const expired = new Set<string>();
  let cancel: (() => void) | undefined;
  /** Counts the stops. A request that was begun before the last stop is of a former user. */
  let stops = 0;

  const isExpiredIn = (record: Readonly<UserRecord>, placementId: string): boolean => {
    const banner = record.banners.get(placementId)?.banner;
    return banner != null && cache.isExpired(banner);
  };

  const renew = async (): Promise<void> => {
    cancel = undefined;
    if (!isVisible()) return;
    const stopsBefore = stops;
    const placementIds = [...expired];
    expired.clear();
    // The tab that takes them out of the record makes the request.
    const isMine = await spend((record) => {
      const found = placementIds.filter((placementId) => isExpiredIn(record, placementId));
      for (const placementId of found) record.banners.get(placementId)!.banner = null;
      return found.length > 0;
    });
    if (stops !== stopsBefore) return;
    if (isMine) return ask(placementIds);
    for (const placementId of placementIds)
      if (isExpiredIn(cache.record(), placementId)) expired.add(placementId);
    arm(refreshIntervalMs);
  };

  const arm = (delayMs: number): void => {
    if (expired.size > 0) cancel ??= after(delayMs, renew);
  };

  return {
    /** The banner of this placement has left the page because it expired. */
    want(placementId: string): void {
      expired.add(placementId);
      arm(random() * SPREAD_MS);
    },
    /** The page is visible again. */
    resume: () => arm(random() * SPREAD_MS),
    stop(): void {
      stops += 1;
      expired.clear();
      cancel?.();
      cancel = undefined;
    },
  };
};

export type Renewal = ReturnType<typeof createRenewal>;
