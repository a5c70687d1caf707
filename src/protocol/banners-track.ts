import * as z from 'zod/mini';

export const TRACK_PATH = '/v1/device-messaging/banners/track';

export const EVENT_TYPES = ['impression', 'click', 'dismiss'] as const;
/** What can happen to a banner. */
export type EventType = (typeof EVENT_TYPES)[number];

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

/** What a client reads of any 2xx: a proxy answers something else, and another server may leave members out. */
export const trackSuccess = z.object({
  events_processed: z.nullish(z.number()),
  message: z.optional(z.string()),
  errors: z.optional(z.unknown()),
});
export type TrackSuccess = z.infer<typeof trackSuccess>;
