import { type BannerEnvelope, readEnvelope } from './banner-envelope.ts';
import { FATAL, notValid, required } from './error-codes.ts';
import { MAX_TRACK_BATCH, MAX_TRACK_EVENTS } from './limits.ts';
import { isRecord } from './record.ts';
import { isVisitorId } from './visitor.ts';

/** The body of `banners/track`, whose events `readBannerEvent` reads one by one. */
export interface TrackRequestMembers extends BannerEnvelope {
  events: unknown[];
}

/** The body of `banners/track`, or the text of the 400 with which it is refused. */
export const readTrackRequest = (
  body: unknown,
  isApp: (appId: string) => boolean,
): TrackRequestMembers | string => {
  if (!isRecord(body)) return FATAL.notAnObject;
  const envelope = readEnvelope(body, isApp);
  if (typeof envelope === 'string') return envelope;
  const { events } = body;
  if (events === undefined || events === null) return required('events');
  if (!Array.isArray(events)) return notValid('events');
  if (events.length === 0) return FATAL.noValidEvents;
  // Only our own client has visitors, and sends no more at once.
  const max = isVisitorId(envelope.external_user_id) ? MAX_TRACK_BATCH : MAX_TRACK_EVENTS;
  if (events.length > max) return `'events' must hold no more than ${max} events`;
  return { ...envelope, events };
};
