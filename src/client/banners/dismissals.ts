import type { Banner } from '../banner.ts';
import type { Dismissal, UserRecord } from './user-record.ts';

const MAX_DISMISSALS = 100;

type BannerName = Pick<Banner, 'placementId' | 'id'>;

export const isDismissed = ({ dismissed }: Readonly<UserRecord>, { placementId, id }: BannerName): boolean =>
  dismissed.some((known) => known.placementId === placementId && known.bannerId === id);

/** Takes banners out of the record and keeps them out; the oldest dismissal gives way. */
export const addDismissals = (
  record: UserRecord,
  dismissals: readonly Pick<Dismissal, 'placementId' | 'bannerId'>[],
): void => {
  for (const { placementId, bannerId } of dismissals) {
    if (isDismissed(record, { placementId, id: bannerId })) continue;
    const answer = record.banners.get(placementId);
    if (answer?.banner?.id === bannerId) answer.banner = null;
    record.dismissed.push({ placementId, bannerId, acceptedAtMs: null });
  }
  record.dismissed = record.dismissed.slice(-MAX_DISMISSALS);
};
