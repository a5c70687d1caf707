import { parseInstant } from '../users/dates.ts';
import type { StoredEvent } from './store.ts';

/**
 * Events of one request (SQLite) or of one user in it (PostgreSQL) share a row: a list of lists, each
 * `[external_id, braze_id, kind, app_id, name, time, details]`.
 */
type Packed = [
  string | null,
  string,
  StoredEvent['kind'],
  string | null,
  string,
  string,
  StoredEvent['details'],
];

export const packEvents = (events: StoredEvent[]): string => {
  const packed: Packed[] = [];
  for (const { externalId, brazeId, kind, appId, name, time, details } of events) {
    packed.push([externalId, brazeId, kind, appId, name, time, details]);
  }
  return JSON.stringify(packed);
};

export const unpackEvents = (text: string, receivedAtMs: number): StoredEvent[] =>
  (JSON.parse(text) as Packed[]).map(
    ([externalId, brazeId, kind, appId, name, time, details]): StoredEvent => ({
      externalId,
      brazeId,
      kind,
      appId,
      name,
      time,
      // What was stored had a time that can be read.
      timeMs: parseInstant(time) ?? receivedAtMs,
      receivedAtMs,
      details,
    }),
  );
