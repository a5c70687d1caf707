import type { BannersTrackRequest } from '../../protocol/index.ts';
import type { StoredEvent } from './records.ts';

/** The request's text for a batch of one user; the same events give the same bytes. */
export const trackBody = (events: StoredEvent[]): string => {
  const [{ userId, appId, appVersion }] = events as [StoredEvent];
  const request: BannersTrackRequest = {
    external_user_id: userId,
    app_id: appId,
    app_version: appVersion,
    events: events.map(({ bannerId, type, time }) => ({
      id: bannerId,
      event_type: type,
      timestamp: new Date(time).toISOString(),
    })),
  };
  return JSON.stringify(request);
};
