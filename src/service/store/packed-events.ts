import type { StoredEvent } from './store.ts';

/**
 * Events of one request (SQLite) or of one user in it (PostgreSQL) share a row: a list of lists, each
 * `[external_id, braze_id, kind, app_id, name, time, time in Unix milliseconds, details]`.
 */
type Packed = [
  string | null,
  string,
  StoredEvent['kind'],
  string | null,
  string,
  string,
  number,
  StoredEvent['details'],
];

export const packEvents = (events: StoredEvent[]): string =>
  JSON.stringify(
    events.map(
      (event): Packed => [
        event.externalId,
        event.brazeId,
        event.kind,
        event.appId,
        event.name,
        event.time,
        event.timeMs,
        event.details,
      ],
    ),
  );

export const unpackEvents = (text: string, receivedAtMs: number): StoredEvent[] =>
  (JSON.parse(text) as Packed[]).map(
    ([externalId, brazeId, kind, appId, name, time, timeMs, details]): StoredEvent => ({
      externalId,
      brazeId,
      kind,
      appId,
      name,
      time,
      timeMs,
      receivedAtMs,
      details,
    }),
  );
