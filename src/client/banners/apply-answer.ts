import type { Banner } from '../banner.ts';
import type { Dismissal, UserRecord } from './user-record.ts';

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
