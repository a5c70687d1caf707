import { type BannersTrackRequest, TRACK_PATH, USER_TOKEN_MEMBER } from '../../../protocol/index.ts';
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

/** What came back, read to its end. */
export interface TrackAnswer {
  status: number;
  headers: Headers;
  text: string;
}

export type PostTrack = (request: {
  body: string;
  key: string;
  keepalive: boolean;
  signal: AbortSignal;
}) => Promise<TrackAnswer>;

/** Firefox 153: a keepalive request that was under way when its page went into the bfcache never settles, abort or not. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

/**
 * Makes the `banners/track` call and reads its answer. The sender retries, and ends it by `signal` when it takes too long.
 * Rejects when no answer could be read.
 */
export const createPostTrack =
  (endpoint: string, fetch: typeof globalThis.fetch): PostTrack =>
  ({ body, key, keepalive, signal }) => {
    const read = async (): Promise<TrackAnswer> => {
      const answer = await fetch(endpoint + TRACK_PATH, {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        // It would carry the key to wherever it points.
        redirect: 'error',
        keepalive,
        signal,
      });
      return { status: answer.status, headers: answer.headers, text: await answer.text() };
    };
    return Promise.race([read(), aborted(signal)]);
  };
