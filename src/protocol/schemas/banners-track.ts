import * as z from 'zod/mini';
import { readBannerEvent } from '../banner-event.ts';
import { type BannersTrackAnswer, EVENT_TYPES } from '../banners-track.ts';
import { MAX_TRACK_EVENTS } from '../limits.ts';
import { readTrackRequest } from '../read-track-request.ts';
import { envelope } from './envelope.ts';

/** One banner event. */
export const wireEvent = z
  .object({
    id: z.string().check(z.minLength(1)),
    event_type: z.enum(EVENT_TYPES),
    timestamp: z.string().check(z.meta({ description: 'ISO 8601 with `Z` or an offset.' })),
  })
  .check(z.refine((event) => typeof readBannerEvent(event) !== 'string'));

/** Body of `POST /v1/device-messaging/banners/track`: the events of one user. */
export const bannersTrackRequest = z
  .object({
    ...envelope,
    events: z.array(wireEvent).check(z.minLength(1), z.maxLength(MAX_TRACK_EVENTS)),
  })
  .check(z.refine((body) => typeof readTrackRequest(body, () => true) !== 'string'));

/** 202, and 400 when no event was valid. */
export const bannersTrackAnswer = z.object({
  events_processed: z.optional(z.number()),
  message: z.string(),
  errors: z.optional(z.array(z.unknown())),
}) satisfies z.ZodMiniType<BannersTrackAnswer>;
