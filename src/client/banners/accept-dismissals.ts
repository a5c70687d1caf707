import type { UserRecord } from './user-record.ts';

/** The service has accepted the dismissals: their grace begins now. */
export const acceptDismissals = (record: UserRecord, bannerIds: readonly string[], nowMs: number): void => {
  record.dismissed = record.dismissed.map((dismissal) =>
    bannerIds.includes(dismissal.bannerId) ? { ...dismissal, acceptedAtMs: nowMs } : dismissal,
  );
};
