import { isRecord, type PropertyType, readBanner, toBanner } from '../../protocol/index.ts';
import type { Banner, BannerEvent } from '../banner.ts';
import type { Fail, Notify } from '../notices.ts';
import type { CurrentUser } from '../user/current-user.ts';
import type { BannerCache } from './banner-cache.ts';
import type { SentBanners } from './request-banners.ts';
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

/** Names of properties whose value does not have the declared type, or whose type is unknown. */
export const invalidProperties = ({ properties }: Banner): string[] =>
  Object.keys(properties).filter((name) => {
    const { type, value } = properties[name]!;
    return !(isType(type) && IS_VALID[type](value));
  });

/** Reads the banners of an answer, by placement. A placement that is missing, or whose banner cannot be read, is left out, with a notice. */
export const createReadBanners = (fail: Fail) => {
  /** Placements that an answer left out: one notice for each. */
  const unknown = new Set<string>();

  return (placements: string[], sent: Record<string, unknown>): Map<string, Banner | null> => {
    const banners = new Map<string, Banner | null>();
    for (const placementId of placements) {
      // A placement that is missing was not answered; only null says that there is none.
      if (!Object.hasOwn(sent, placementId)) {
        const message = `The service has no placement "${placementId}": check its spelling, and that the workspace has it`;
        if (!unknown.has(placementId)) fail('config', message);
        unknown.add(placementId);
        continue;
      }
      const wire = sent[placementId];
      const banner = wire === null ? null : readBanner(placementId, wire);
      if (typeof banner === 'string') {
        fail('property', `The banner of "${placementId}" cannot be read: its ${banner} is wrong`, wire);
      } else banners.set(placementId, banner && toBanner(banner));
    }
    return banners;
  };
};

export type ReadBanners = ReturnType<typeof createReadBanners>;

/** The service has accepted the dismissals: their grace begins now. */
export const acceptDismissals = (record: UserRecord, bannerIds: readonly string[], nowMs: number): void => {
  record.dismissed = record.dismissed.map((dismissal) =>
    bannerIds.includes(dismissal.bannerId) ? { ...dismissal, acceptedAtMs: nowMs } : dismissal,
  );
};

/** From its acceptance a dismissal hides what the service may still send for some minutes. */
export const acceptDismissed = async (
  user: Pick<CurrentUser, 'id'>,
  cache: BannerCache,
  dismissals: readonly BannerEvent[],
  nowMs: number,
): Promise<void> => {
  const own = dismissals.filter(({ userId }) => userId === user.id());
  const ids = own.map(({ bannerId }) => bannerId);
  if (ids.length > 0) await cache.change((record) => acceptDismissals(record, ids, nowMs));
};

/** The service may send a dismissed banner for some minutes after it has accepted the dismissal. */
const DISMISSAL_GRACE_MS = 10 * 60_000;
/** No answer takes this long. One that was requested further in the future was requested under a wrong clock. */
const WRONG_CLOCK_MS = 60_000;

/**
 * Replaces exactly the placements that the answer names, and none that a later request has answered already. A
 * dismissed banner that comes back counts as none until its grace is over. A test send leaves no banner here.
 */
export const applyAnswer = (
  record: UserRecord,
  banners: ReadonlyMap<string, Banner | null>,
  askedAtMs: number,
): void => {
  // An acceptance that lies ahead by more than the grace was noted under a wrong clock.
  const isHeld = ({ placementId, acceptedAtMs }: Dismissal): boolean =>
    !banners.has(placementId) ||
    acceptedAtMs === null ||
    Math.abs(askedAtMs - acceptedAtMs) < DISMISSAL_GRACE_MS;
  record.dismissed = record.dismissed.filter(isHeld);
  for (const [placementId, banner] of banners) {
    const before = record.banners.get(placementId);
    if (before && before.askedAtMs > askedAtMs && before.askedAtMs - askedAtMs < WRONG_CLOCK_MS) continue;
    if (banner?.isTestSend) continue;
    const isDismissed = record.dismissed.some(
      (dismissal) => dismissal.placementId === placementId && dismissal.bannerId === banner?.id,
    );
    record.banners.set(placementId, { banner: isDismissed ? null : banner, askedAtMs });
  }
};

/** The answer to a sync. */
export interface SyncResult extends Pick<SentBanners, 'askedAtMs' | 'clockSkewMs'> {
  userId: string;
  /** By placement. */
  banners: Map<string, Banner | null>;
}

/** Puts answers into the cache: test sends into memory only. Resolves when an answer is stored. */
export const createStoreAnswer = (user: Pick<CurrentUser, 'id'>, cache: BannerCache, notify: Notify) => {
  /** When the present answer of each placement was requested. Times grow from request to request, over all users. */
  const requestedAtMs = new Map<string, number>();

  return async ({ userId, banners, askedAtMs, clockSkewMs }: SyncResult): Promise<void> => {
    const latest: SyncResult['banners'] = new Map();
    for (const [placementId, banner] of banners) {
      // A later request was answered first. The record knows that of its own banners, but not of test sends.
      if (requestedAtMs.get(placementId)! > askedAtMs) continue;
      requestedAtMs.set(placementId, askedAtMs);
      latest.set(placementId, banner);
      // An answer replaces the test send of before.
      if (banner?.isTestSend) cache.testSends.set(placementId, banner);
      else cache.testSends.delete(placementId);
    }
    // Before the first notice to the host, which may change the user.
    const stored = cache.change((record) => {
      applyAnswer(record, latest, askedAtMs);
      if (clockSkewMs !== undefined) record.clockSkewMs = clockSkewMs;
    });
    for (const banner of latest.values()) {
      for (const name of banner ? invalidProperties(banner) : []) {
        const message = `Property "${name}" of banner "${banner!.id}" is not of its declared type`;
        notify({ type: 'failed', kind: 'property', message, cause: banner!.properties[name] });
      }
    }
    await stored;
    if (user.id() !== userId) return;
    // The host may leave the page on this notice: the next page finds the answer in the cache.
    notify({ type: 'synced', placements: [...latest.keys()], banners: Object.fromEntries(latest) });
  };
};
