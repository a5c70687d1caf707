import { parseInstant } from '../../protocol/index.ts';
import type { StoredEvent } from '../profiles/stored-event.ts';

/**
 * Events of one request (SQLite) or of one user in it (PostgreSQL) share a row: its users, and lists that name theirs
 * by its place. Half of an event's text would be the names of its user and of its members.
 */
interface Packed {
  users: [externalId: string | null, brazeId: string][];
  events: [
    user: number,
    kind: 'e' | 'p',
    appId: string | null,
    name: string,
    time: string,
    details: StoredEvent['details'],
  ][];
}

/** How rows were written first: `[external_id, braze_id, kind, app_id, name, time, details]`. */
type FirstPacked = [
  string | null,
  string,
  StoredEvent['kind'],
  string | null,
  string,
  string,
  StoredEvent['details'],
][];

export const packEvents = (events: StoredEvent[]): string => {
  const packed: Packed = { users: [], events: [] };
  const places = new Map<string, number>();
  for (const { externalId, brazeId, kind, appId, name, time, details } of events) {
    let user = places.get(brazeId);
    if (user === undefined || packed.users[user]![0] !== externalId) {
      user = packed.users.push([externalId, brazeId]) - 1;
      places.set(brazeId, user);
    }
    packed.events.push([user, kind === 'event' ? 'e' : 'p', appId, name, time, details]);
  }
  return JSON.stringify(packed);
};

export const unpackEvents = (text: string, receivedAtMs: number): StoredEvent[] => {
  const row = JSON.parse(text) as Packed | FirstPacked;
  const events: FirstPacked = Array.isArray(row)
    ? row
    : row.events.map(([user, kind, ...rest]) => [
        ...row.users[user]!,
        kind === 'e' ? 'event' : 'purchase',
        ...rest,
      ]);
  return events.map(([externalId, brazeId, kind, appId, name, time, details]) => ({
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
  }));
};
