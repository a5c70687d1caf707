import type { BannerEnvelope } from './banners-sync.ts';
import { isRecord } from './json.ts';

export const TRACK_PATH = '/v1/device-messaging/banners/track';

export const EVENT_TYPES = ['impression', 'click', 'dismiss'] as const;
/** What can happen to a banner. */
export type EventType = (typeof EVENT_TYPES)[number];

/** One banner event on the wire. `timestamp` is ISO 8601; we send UTC with milliseconds. */
export interface WireEvent {
  id: string;
  event_type: EventType;
  timestamp: string;
}

/** Body of `POST /v1/device-messaging/banners/track`: the events of one user. */
export interface BannersTrackRequest extends BannerEnvelope {
  events: WireEvent[];
}

/** 202, and 400 when no event was valid. `errors[].index` is the position in the request's `events`. */
export interface BannersTrackAnswer {
  events_processed?: number | undefined;
  message: string;
  /** Another server may send anything here, so the client judges each entry alone. */
  errors?: unknown[] | undefined;
}

/** The members that a client reads of any 2xx: a proxy answers something else, and another server may leave members out. */
export interface TrackSuccess {
  events_processed: number | undefined;
  message: string | undefined;
  /** A list, unless the server has sent something else. */
  errors: unknown;
}

/** `undefined` where the body is no answer to `banners/track`. */
export const readTrackSuccess = (body: unknown): TrackSuccess | undefined => {
  if (!isRecord(body)) return undefined;
  const { events_processed, message, errors } = body;
  const isCount = events_processed == null || Number.isFinite(events_processed);
  if (!isCount || (message !== undefined && typeof message !== 'string')) return undefined;
  return { events_processed: (events_processed as number | null) ?? undefined, message, errors };
};
