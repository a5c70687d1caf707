import type { Banner } from '../banner.ts';
import type { UserRecord } from './user-record.ts';

const MAX_DISMISSALS = 100;

export const isDismissed = (record: Readonly<UserRecord>, banner: Banner): boolean =>
  record.dismissed.some(
    ({ placementId, bannerId }) => placementId === banner.placementId && bannerId === banner.id,
  );

/** Takes the banner out of the record and keeps it out; the oldest dismissal gives way. False where it was out already. */
export const addDismissal = (record: UserRecord, banner: Banner): boolean => {
  if (isDismissed(record, banner)) return false;
  const { placementId, id } = banner;
  const answer = record.banners.get(placementId);
  if (answer?.banner?.id === id) answer.banner = null;
  const dismissal = { placementId, bannerId: id, acceptedAtMs: null };
  record.dismissed = [...record.dismissed, dismissal].slice(-MAX_DISMISSALS);
  return true;
};
