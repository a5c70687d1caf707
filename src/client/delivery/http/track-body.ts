import { type BannersTrackRequest, USER_TOKEN_MEMBER } from '../../../protocol/index.ts';
import type { BannerEvent } from '../../banner-event.ts';

/** An event, and the app that captured it. */
export interface TrackedEvent extends BannerEvent {
  appId: string;
  appVersion: string;
}

/** The request's text for a batch of one user; the same events give the same bytes. */
export const trackBody = (events: TrackedEvent[]): string => {
  const [{ userId, appId, appVersion }] = events as [TrackedEvent];
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

/** The same request with the user's proof, which is not stored. */
export const withUserToken = (body: string, token: string | undefined): string =>
  token === undefined ? body : `${body.slice(0, -1)},"${USER_TOKEN_MEMBER}":${JSON.stringify(token)}}`;
