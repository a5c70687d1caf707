import type { UserRecord } from './user-record.ts';

/** The service has taken the dismissal: from here its grace runs. */
export const acceptDismissals = (record: UserRecord, bannerIds: readonly string[], nowMs: number): void => {
  record.dismissed = record.dismissed.map((dismissal) =>
    bannerIds.includes(dismissal.bannerId) ? { ...dismissal, acceptedAtMs: nowMs } : dismissal,
  );
};
