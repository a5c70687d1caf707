import {
  EVENT_ERROR,
  EVENT_TYPES,
  errorBody,
  fitsBytes,
  MAX_EXTERNAL_USER_ID_BYTES,
  notValid,
  required,
  type WireEvent,
  wireEvent,
} from '../protocol/index.ts';
import { type FakeAnswer, type ForcedErrors, isRecord } from './fake-answer.ts';

const ENVELOPE = ['external_user_id', 'app_id', 'app_version'] as const;

/** Why the service skips an event, or `undefined`. */
const faultOf = (event: unknown): string | undefined => {
  if (!isRecord(event)) return EVENT_ERROR.notAnObject;
  for (const name of ['id', 'event_type', 'timestamp'] as const) {
    if (event[name] === undefined || event[name] === null || event[name] === '') return required(name);
  }
  if (typeof event['id'] !== 'string') return EVENT_ERROR.invalidId;
  if (!EVENT_TYPES.includes(event['event_type'] as never)) return EVENT_ERROR.invalidEventType;
  return wireEvent.safeParse(event).success ? undefined : EVENT_ERROR.invalidTimestamp;
};

/** `banners/track`: each event is judged alone; `store` gets those that were taken. */
export const answerTrack = (
  body: unknown,
  store: (userId: string, events: WireEvent[]) => void,
  forced: ForcedErrors,
): FakeAnswer => {
  const refuse = (text: string) => ({ status: 400, body: errorBody('track', text) });
  if (!isRecord(body)) return refuse('The request body must be an object');
  for (const name of ENVELOPE) {
    const value = body[name];
    if (value === undefined || value === null) return refuse(required(name));
    if (typeof value !== 'string' || value === '') return refuse(notValid(name));
  }
  const userId = body['external_user_id'] as string;
  if (!fitsBytes(userId, MAX_EXTERNAL_USER_ID_BYTES)) return refuse(notValid('external_user_id'));
  const events = body['events'];
  if (events === undefined || events === null) return refuse(required('events'));
  if (!Array.isArray(events)) return refuse(notValid('events'));

  const errors = events.flatMap((event, index) => {
    const type = forced.skip?.indices.includes(index) ? forced.skip.reason : faultOf(event);
    return type === undefined ? [] : [{ type, index }];
  });
  const taken = events.filter((_, index) => !errors.some((error) => error.index === index));
  if (taken.length === 0) {
    return {
      status: 400,
      body: { message: 'No valid events provided.', ...(errors.length > 0 && { errors }) },
    };
  }
  store(userId, taken as WireEvent[]);
  if (forced.raw) {
    const { errors: raw, processed = taken.length } = forced.raw;
    return { status: 202, body: { events_processed: processed, message: 'success', errors: raw } };
  }
  return {
    status: 202,
    body: { events_processed: taken.length, message: 'success', ...(errors.length > 0 && { errors }) },
  };
};
