import { isRecord } from './json.ts';

export const TRACK_PATH = '/v1/device-messaging/banners/track';

/**
 * In ascending order of value. If storage is full, the client evicts events of the first type first. Stored results have their
 * counts in this order, so a new type comes last.
 */
export const EVENT_TYPES = ['impression', 'click', 'dismiss'] as const;
/** Type of a banner event. */
export type EventType = (typeof EVENT_TYPES)[number];

/**
 * Fields of each type. `events` and `users` of results: the number of events, and of users with at least one. `events` and `last`
 * of audiences: the number of the user's events, and the time of the last.
 */
export const COUNT_FIELDS = {
  impression: { events: 'impressions', users: 'exposed', last: 'last_impression' },
  click: { events: 'clicks', users: 'clicked', last: 'last_click' },
  dismiss: { events: 'dismissals', users: 'dismissed', last: 'last_dismissal' },
} as const satisfies Record<EventType, { events: string; users: string; last: string }>;

/** Banner event in the wire format. `timestamp` is ISO 8601; clients send UTC with milliseconds. */
export interface WireEvent {
  id: string;
  event_type: EventType;
  timestamp: string;
  /** Clicked link or button of the banner. Placard extension, which other servers ignore. */
  button_id?: string | undefined;
}

/** Properties that a client reads from any 2xx response. Proxies may send other bodies, and other servers may omit properties. */
export interface TrackSuccess {
  events_processed: number | undefined;
  message: string | undefined;
  /** Usually an array, but a server may send any value. */
  errors: unknown;
}

/** Parses a response of `banners/track`. Returns `undefined` if invalid. */
export const readTrackSuccess = (body: unknown): TrackSuccess | undefined => {
  if (!isRecord(body)) return undefined;
  const { events_processed, message, errors } = body;
  const isCount = events_processed == null || Number.isFinite(events_processed);
  if (!isCount || (message !== undefined && typeof message !== 'string')) return undefined;
  return { events_processed: (events_processed as number | null) ?? undefined, message, errors };
};
