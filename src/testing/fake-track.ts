import { errorBody, FATAL, type WireEvent } from '../protocol/index.ts';
import { bannersTrackBody, readBody, readOfApp, wireEvent } from '../protocol/schemas/index.ts';
import type { FakeAnswer, ForcedErrors } from './fake-answer.ts';

/** Why the service skips an event, or `undefined`. */
const faultOf = (event: unknown): string | undefined => {
  const read = readBody(wireEvent, event);
  return typeof read === 'string' ? read : undefined;
};

/** `banners/track`: each event is judged alone; `store` gets those that were taken. */
export const answerTrack = (
  body: unknown,
  appIds: readonly string[] | undefined,
  store: (userId: string, events: WireEvent[]) => void,
  forced: ForcedErrors,
): FakeAnswer => {
  const request = readOfApp(bannersTrackBody, body, (appId) => appIds?.includes(appId) ?? true);
  if (typeof request === 'string') return { status: 400, body: errorBody('track', request) };
  const { external_user_id, events } = request;
  const errors = events.flatMap((event, index) => {
    const type = forced.skip?.indices.includes(index) ? forced.skip.reason : faultOf(event);
    return type === undefined ? [] : [{ type, index }];
  });
  const taken = events.filter((_, index) => !errors.some((error) => error.index === index));
  if (taken.length === 0) {
    return {
      status: 400,
      body: { message: FATAL.noValidEvents, ...(errors.length > 0 && { errors }) },
    };
  }
  store(external_user_id, taken as WireEvent[]);
  if (forced.raw) {
    const { errors: raw, processed = taken.length } = forced.raw;
    return { status: 202, body: { events_processed: processed, message: 'success', errors: raw } };
  }
  return {
    status: 202,
    body: { events_processed: taken.length, message: 'success', ...(errors.length > 0 && { errors }) },
  };
};
