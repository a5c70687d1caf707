// Apart from the answer, so that a browser, which only reads answers, does not carry the checks of a request.
import * as z from 'zod/mini';
import { EVENT_TYPES } from './banners-track.ts';
import { MAX_APP_VERSION_CHARACTERS, MAX_EXTERNAL_USER_ID_BYTES, MAX_TRACK_EVENTS } from './limits.ts';

/** One banner event on the wire. `timestamp` is ISO 8601; we send UTC with milliseconds. */
export const wireEvent = z.object({
  id: z.string().check(z.minLength(1)),
  event_type: z.enum(EVENT_TYPES),
  timestamp: z.iso.datetime({ offset: true }),
});
export type WireEvent = z.infer<typeof wireEvent>;

/** Body of `POST /v1/device-messaging/banners/track`: the events of one user. */
export const bannersTrackRequest = z.object({
  external_user_id: z.string().check(z.minLength(1), z.maxLength(MAX_EXTERNAL_USER_ID_BYTES)),
  app_id: z.string().check(z.minLength(1)),
  app_version: z.string().check(z.minLength(1), z.maxLength(MAX_APP_VERSION_CHARACTERS)),
  events: z.array(wireEvent).check(z.minLength(1), z.maxLength(MAX_TRACK_EVENTS)),
});
export type BannersTrackRequest = z.infer<typeof bannersTrackRequest>;
