import { EVENT_TYPES, type EventType } from './banners-track.ts';
import { EVENT_ERROR, required } from './error-codes.ts';
import { parseInstant } from './instant.ts';
import { isPresent, isRecord } from './record.ts';
import { isStorableText } from './text.ts';

/** The members of an event of `banners/track`. */
export interface BannerEventMembers {
  id: string;
  eventType: EventType;
  timestamp: string;
  /** Unix milliseconds. */
  timestampMs: number;
}

const isEventType = (value: unknown): value is EventType =>
  (EVENT_TYPES as readonly unknown[]).includes(value);

/** The event, or the text of the first fault for which it is skipped. */
export const readBannerEvent = (event: unknown): BannerEventMembers | string => {
  if (!isRecord(event)) return EVENT_ERROR.notAnObject;
  const { id, event_type: eventType, timestamp } = event;
  if (!isPresent(id)) return required('id');
  if (typeof id !== 'string' || !isStorableText(id)) return EVENT_ERROR.invalidId;
  if (!isPresent(eventType)) return required('event_type');
  if (!isEventType(eventType)) return EVENT_ERROR.invalidEventType;
  if (!isPresent(timestamp)) return required('timestamp');
  // To the millisecond, which is what SDKs send: within one, events of a kind, a user and a banner are one (contract 8).
  const timestampMs = typeof timestamp === 'string' ? parseInstant(timestamp) : null;
  if (typeof timestamp !== 'string' || timestampMs === null) return EVENT_ERROR.invalidTimestamp;
  return { id, eventType, timestamp, timestampMs };
};
