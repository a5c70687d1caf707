import type { Dismissal, UserRecord } from './user-record.ts';

/** The same as in `dismissals.ts`. */
const MAX_DISMISSALS = 100;

/**
 * Takes dismissals that are still to be delivered into a record that may not know them: after a sign-out it is a new one, and
 * a page that left at once may not have stored it. Does what `addDismissal` does: bundlers put what both chunks share into a
 * third one, which the first paint would wait for.
 */
export const hideAgain = (
  record: UserRecord,
  dismissals: readonly Pick<Dismissal, 'placementId' | 'bannerId'>[],
): void => {
  for (const { placementId, bannerId } of dismissals) {
    if (record.dismissed.some((known) => known.placementId === placementId && known.bannerId === bannerId))
      continue;
    const answer = record.banners.get(placementId);
    if (answer?.banner?.id === bannerId) answer.banner = null;
    record.dismissed.push({ placementId, bannerId, acceptedAtMs: null });
  }
  record.dismissed = record.dismissed.slice(-MAX_DISMISSALS);
};
