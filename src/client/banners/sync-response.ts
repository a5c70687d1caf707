import { isRecord, type PropertyType, readBanner, toBanner } from '../../protocol/index.ts';
import type { Banner, BannerEvent } from '../banner.ts';
import type { Fail, Notify } from '../notices.ts';
import type { PagePermission } from '../permission.ts';
import type { BannerCache } from './banner-cache.ts';
import type { ReceivedBanners } from './request-banners.ts';
import type { Dismissal, UserRecord } from './user-record.ts';

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';

const IS_VALID: Record<PropertyType, (value: unknown) => boolean> = {
  string: isText,
  number: isNumber,
  boolean: (value) => typeof value === 'boolean',
  image: isText,
  jsonobject: isRecord,
  datetime: isNumber,
};

const isType = (type: string): type is PropertyType => Object.hasOwn(IS_VALID, type);

/** Returns the names of properties with an unknown type, or a value of another type. */
export const invalidProperties = ({ properties }: Banner): string[] =>
  Object.keys(properties).filter((name) => {
    const { type, value } = properties[name]!;
    return !(isType(type) && IS_VALID[type](value));
  });

/** Reads the banners of a response, by placement. Leaves out missing placements and invalid banners, with a notice. */
export const createReadBanners = (fail: Fail) => {
  /** Placements missing from responses. Each is reported once. */
  const unknown = new Set<string>();

  return (placements: string[], sent: Record<string, unknown>): Map<string, Banner | null> => {
    const banners = new Map<string, Banner | null>();
    for (const placementId of placements) {
      // A missing placement has no result. Only `null` means that there is no banner.
      if (!Object.hasOwn(sent, placementId)) {
        const message = `The service has no placement "${placementId}": check its spelling and the workspace`;
        if (!unknown.has(placementId)) fail('config', message);
        unknown.add(placementId);
        continue;
      }
      const wire = sent[placementId];
      const banner = wire === null ? null : readBanner(placementId, wire);
      if (typeof banner === 'string') {
        fail('invalid-banner', `The banner of "${placementId}" has an invalid ${banner}`, wire);
      } else banners.set(placementId, banner && toBanner(banner));
    }
    return banners;
  };
};

export type ReadBanners = ReturnType<typeof createReadBanners>;

/** Records that the service accepted the dismissals, which starts their grace period. */
export const acceptDismissals = (record: UserRecord, bannerIds: readonly string[], nowMs: number): void => {
  record.dismissed = record.dismissed.map((dismissal) =>
    bannerIds.includes(dismissal.bannerId) ? { ...dismissal, acceptedAtMs: nowMs } : dismissal,
  );
};

/**
 * Marks dismissals as accepted. An accepted dismissal still hides its banner for some minutes, because the service may still send
 * the banner.
 */
export const recordAcceptedDismissals = async (
  permission: Pick<PagePermission, 'userId'>,
  cache: BannerCache,
  dismissals: readonly BannerEvent[],
  nowMs: number,
): Promise<void> => {
  const own = dismissals.filter(({ userId }) => userId === permission.userId());
  const ids = own.map(({ bannerId }) => bannerId);
  if (ids.length > 0) await cache.change((record) => acceptDismissals(record, ids, nowMs));
};

/** Time for which the service may still send a banner after it has accepted the dismissal. */
const DISMISSAL_GRACE_MS = 10 * 60_000;
/** Longer than any response takes. If a request time is further in the future, it comes from a wrong clock. */
const WRONG_CLOCK_MS = 60_000;

/**
 * Replaces the placements in the response, unless a later request has already replaced them. A dismissed banner is ignored until
 * its grace period ends. Test sends are not stored here.
 */
export const applyResponse = (
  record: UserRecord,
  banners: ReadonlyMap<string, Banner | null>,
  fetchedAtMs: number,
): void => {
  // An acceptance further in the future than the grace period was recorded under a wrong clock.
  const isKept = ({ placementId, acceptedAtMs }: Dismissal): boolean =>
    !banners.has(placementId) ||
    acceptedAtMs === null ||
    Math.abs(fetchedAtMs - acceptedAtMs) < DISMISSAL_GRACE_MS;
  record.dismissed = record.dismissed.filter(isKept);
  for (const [placementId, banner] of banners) {
    const before = record.banners.get(placementId);
    if (before && before.fetchedAtMs > fetchedAtMs && before.fetchedAtMs - fetchedAtMs < WRONG_CLOCK_MS)
      continue;
    if (banner?.isTestSend) continue;
    const isDismissed = record.dismissed.some(
      (dismissal) => dismissal.placementId === placementId && dismissal.bannerId === banner?.id,
    );
    record.banners.set(placementId, { banner: isDismissed ? null : banner, fetchedAtMs });
  }
};

/** Result of a sync. */
export interface SyncResult extends Pick<ReceivedBanners, 'fetchedAtMs' | 'clockSkewMs'> {
  userId: string;
  /** Banners by placement. */
  banners: Map<string, Banner | null>;
}

/** Stores responses in the cache, test sends only in memory. Resolves once a response is stored. */
export const createStoreResponse = (
  permission: Pick<PagePermission, 'userId'>,
  cache: BannerCache,
  notify: Notify,
) => {
  /** Request time of each placement's current response. Increases with each request, over all users. */
  const requestedAtMs = new Map<string, number>();

  return async ({ userId, banners, fetchedAtMs, clockSkewMs }: SyncResult): Promise<void> => {
    const latest: SyncResult['banners'] = new Map();
    for (const [placementId, banner] of banners) {
      // A later request got its response first. The record detects this for its own banners, but not for test sends.
      if (requestedAtMs.get(placementId)! > fetchedAtMs) continue;
      requestedAtMs.set(placementId, fetchedAtMs);
      latest.set(placementId, banner);
      // A response replaces the previous test send.
      if (banner?.isTestSend) cache.testSends.set(placementId, banner);
      else cache.testSends.delete(placementId);
    }
    // Stored before the first notice, because the host may change the user in its listener.
    const stored = cache.change((record) => {
      applyResponse(record, latest, fetchedAtMs);
      if (clockSkewMs !== undefined) record.clockSkewMs = clockSkewMs;
    });
    for (const banner of latest.values()) {
      for (const name of banner ? invalidProperties(banner) : []) {
        const message = `Property "${name}" of banner "${banner!.id}" does not have its declared type`;
        notify({ type: 'failed', kind: 'invalid-banner', message, cause: banner!.properties[name] });
      }
    }
    await stored;
    if (permission.userId() !== userId) return;
    // The host may leave the page in its listener. The next page finds the response in the cache.
    notify({ type: 'synced', placements: [...latest.keys()], banners: Object.fromEntries(latest) });
  };
};
