import * as z from 'zod/mini';
import { MAX_APP_VERSION_CHARACTERS } from './limits.ts';

export const TRACK_PATH = '/v1/device-messaging/banners/track';

export const EVENT_TYPES = ['impression', 'click', 'dismiss'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** One banner event on the wire. `timestamp` is ISO 8601; we send UTC with milliseconds. */
export const wireEvent = z.object({
  id: z.string().check(z.minLength(1)),
  event_type: z.enum(EVENT_TYPES),
  timestamp: z.iso.datetime({ offset: true }),
});
export type WireEvent = z.infer<typeof wireEvent>;

/** Body of `POST /v1/device-messaging/banners/track`: the events of one user. */
export const bannersTrackRequest = z.object({
  external_user_id: z.string().check(z.minLength(1)),
  app_id: z.string().check(z.minLength(1)),
  app_version: z.string().check(z.minLength(1), z.maxLength(MAX_APP_VERSION_CHARACTERS)),
  events: z.array(wireEvent).check(z.minLength(1)),
});
export type BannersTrackRequest = z.infer<typeof bannersTrackRequest>;

/**
 * 202, and 400 when no event was valid. `errors[].index` is the position in the request's `events`; it stays
 * `unknown` here because another server may send anything there, and the outbox judges each entry alone.
 */
export const bannersTrackAnswer = z.object({
  events_processed: z.optional(z.number()),
  message: z.string(),
  errors: z.optional(z.array(z.unknown())),
});
export type BannersTrackAnswer = z.infer<typeof bannersTrackAnswer>;
