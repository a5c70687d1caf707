import { ERROR_MESSAGES, errorBody, isPresent, type WireEvent } from '../protocol/index.ts';
import { bannersTrackBody, EVENT_ERROR, readBody, readOfApp, wireEvent } from '../protocol/schemas/index.ts';
import type { FakeResponse, ForcedErrors } from './fake-response.ts';
import type { AcceptedObject } from './fake-users-track.ts';

/**
 * Tracks the users that backends have created, and the banners that a sync returned to each user. A client key must not create
 * users, so the first events of a user whom no backend has created must be about banners returned to that user.
 */
export const createKnownUsers = (known: readonly string[] | 'everyone' = []) => {
  const fromTheStart = known === 'everyone' ? [] : known;
  const users = new Set(fromTheStart);
  const answered = new Set<string>();
  const toPairKey = (userId: string, bannerId: string) => JSON.stringify([userId, bannerId]);
  return {
    /** Adds the users of accepted `users/track` objects. */
    take(objects: readonly AcceptedObject[]): void {
      for (const { object } of objects) {
        const { external_id: id, _update_existing_only: isUpdate } = object;
        if (isPresent(id) && isUpdate !== true) users.add(String(id));
      }
    },
    /** Adds a user. Users with an accepted event are known. */
    add: (userId: string): void => void users.add(userId),
    has: (userId: string): boolean => known === 'everyone' || users.has(userId),
    answer: (userId: string, bannerId: string): void => void answered.add(toPairKey(userId, bannerId)),
    wasAnswered: (userId: string, bannerId: string): boolean => answered.has(toPairKey(userId, bannerId)),
    /** Clears the users. Keeps the returned banner IDs, which stay valid for their users. */
    clear(): void {
      users.clear();
      for (const id of fromTheStart) users.add(id);
    },
  };
};
type KnownUsers = ReturnType<typeof createKnownUsers>;

/** Returns the event, or the reason that the service skips it. */
const readEvent = (event: unknown, userId: string, users: KnownUsers): WireEvent | string => {
  const read = readBody(wireEvent, event);
  if (typeof read === 'string') return read;
  return users.has(userId) || users.wasAnswered(userId, read.id) ? read : EVENT_ERROR.invalidId;
};

/** Handles `banners/track`: validates each event separately, and passes accepted events to `store`. */
export const respondToTrack = (
  body: unknown,
  appIds: readonly string[] | undefined,
  users: KnownUsers,
  store: (userId: string, events: WireEvent[]) => void,
  forced: ForcedErrors,
): FakeResponse => {
  const request = readOfApp(bannersTrackBody, body, (appId) => appIds?.includes(appId) ?? true);
  if (typeof request === 'string') return { status: 400, body: errorBody('track', request) };
  const { external_user_id, events } = request;
  const taken: WireEvent[] = [];
  const errors: { type: string; index: number }[] = [];
  for (const [index, sent] of events.entries()) {
    const event = forced.skip?.indices.includes(index)
      ? forced.skip.reason
      : readEvent(sent, external_user_id, users);
    if (typeof event === 'string') errors.push({ type: event, index });
    else taken.push(event);
  }
  if (taken.length === 0) {
    return {
      status: 400,
      body: { message: ERROR_MESSAGES.noValidEvents, ...(errors.length > 0 && { errors }) },
    };
  }
  store(external_user_id, taken);
  if (forced.raw) {
    const { errors: raw, processed = taken.length } = forced.raw;
    return { status: 202, body: { events_processed: processed, message: 'success', errors: raw } };
  }
  return {
    status: 202,
    body: { events_processed: taken.length, message: 'success', ...(errors.length > 0 && { errors }) },
  };
};
