import type { BannerEnvelope } from './banners-sync.ts';
import { isRecord } from './json.ts';

export const TRACK_PATH = '/v1/device-messaging/banners/track';

export const EVENT_TYPES = ['impression', 'click', 'dismiss'] as const;
/** Type of a banner event. */
export type EventType = (typeof EVENT_TYPES)[number];

/** Banner event in the wire format. `timestamp` is ISO 8601; clients send UTC with milliseconds. */
export interface WireEvent {
  id: string;
  event_type: EventType;
  timestamp: string;
}

/** Body of `POST /v1/device-messaging/banners/track`: the events of one user. */
export interface BannersTrackRequest extends BannerEnvelope {
  events: WireEvent[];
}

/** Response 202, or 400 if no event is valid. `errors[].index` is the position in the request's `events`. */
export interface BannersTrackAnswer {
  events_processed?: number | undefined;
  message: string;
  /** Validated entry by entry, because other servers may send anything here. */
  errors?: unknown[] | undefined;
}

/** Properties that a client reads from any 2xx response. Proxies may send other bodies, and other servers may omit properties. */
export interface TrackSuccess {
  events_processed: number | undefined;
  message: string | undefined;
  /** An array, unless the server sends something else. */
  errors: unknown;
}

/** Parses a response of `banners/track`; `undefined` if invalid. */
export const readTrackSuccess = (body: unknown): TrackSuccess | undefined => {
  if (!isRecord(body)) return undefined;
  const { events_processed, message, errors } = body;
  const isCount = events_processed == null || Number.isFinite(events_processed);
  if (!isCount || (message !== undefined && typeof message !== 'string')) return undefined;
  return { events_processed: (events_processed as number | null) ?? undefined, message, errors };
};
