import { randomInt } from 'node:crypto';
import type { StoredEvent } from '../../profiles/stored-event.ts';
import type { Changes, Entry } from '../entry.ts';
import { packEvents } from '../packed-events.ts';
import { packProfile } from './packed-profile.ts';
import { monthOf } from './partitions.ts';
import type { After, Known } from './profile-cache.ts';
import { SEPARATOR } from './user-statements.ts';

const MAX_VERSION = 2 ** 48 - 1;

/** What a transaction stores: rows of texts. */
export interface UserRows {
  /** ID, workspace, profile, and the version that the row must have until now. */
  updates: string[][];
  inserts: string[][];
  deletes: string[][];
  keysAdded: string[][];
  keysRemoved: string[][];
  events: string[][];
  points: string[][];
  /** What the version of everyone written will be. */
  version: string;
}

/** Events of one user and month share a row. */
const eventRows = (workspaceId: string, events: StoredEvent[]): string[][] => {
  const groups = new Map<string, StoredEvent[]>();
  const usual = events.length > 0 ? monthOf(events[0]!.timeMs).name : '';
  for (const event of events) {
    const month = monthOf(event.timeMs).name;
    const id = month === usual ? event.brazeId : event.brazeId + month;
    const group = groups.get(id);
    if (group) group.push(event);
    else groups.set(id, [event]);
  }
  const rows: string[][] = [];
  for (const group of groups.values()) {
    const { brazeId, timeMs, receivedAtMs } = group[0]!;
    rows.push([brazeId, workspaceId, String(timeMs), String(receivedAtMs), packEvents(group)]);
  }
  return rows;
};

/** Sums up what many works change of the users they have found: a profile is written once, as the last left it. */
export const createUserRows = (found: Map<string, Known>, pointSlot: string) => {
  const changed = new Map<string, Entry>();
  const keys = new Map<string, { row: string[]; isAdded: boolean }>();
  const points = new Map<string, { row: string[]; count: number }>();
  const events: string[][] = [];

  const changeKeys = (workspaceId: string, list: Changes['keysAdded'], isAdded: boolean) => {
    for (const { entry, key } of list) {
      const row = [key, workspaceId, entry.profile.brazeId];
      keys.set(row.join(SEPARATOR), { row, isAdded });
    }
  };

  return {
    add(workspaceId: string, changes: Changes) {
      for (const { entry } of changes.entries) changed.set(entry.profile.brazeId, entry);
      changeKeys(workspaceId, changes.keysRemoved, false);
      changeKeys(workspaceId, changes.keysAdded, true);
      events.push(...eventRows(workspaceId, changes.events));
      for (const { day, count } of changes.points) {
        const id = `${day} ${workspaceId}`;
        const known = points.get(id);
        if (known) known.count += count;
        else points.set(id, { row: [workspaceId, day, pointSlot], count });
      }
    },

    /**
     * The rows, and how the profiles will be remembered once these are stored. With `isChecking` everyone found is
     * written, so that the write is refused where somebody is not as he was found.
     */
    finish(isChecking: boolean): { rows: UserRows; after: After[] } {
      const version = randomInt(MAX_VERSION);
      const rows: UserRows = {
        updates: [],
        inserts: [],
        deletes: [],
        keysAdded: [],
        keysRemoved: [],
        events,
        points: [],
        version: String(version),
      };
      const after: After[] = [];
      const update = (known: Known, isRemoved = false) => {
        const { workspaceId, profile } = known;
        const text = packProfile(profile);
        rows.updates.push([profile.brazeId, workspaceId, text, String(known.version)]);
        if (isRemoved) rows.deletes.push([profile.brazeId, workspaceId]);
        else after.push({ known, version, characters: text.length });
      };
      for (const { profile, workspaceId, removed } of changed.values()) {
        const known = found.get(profile.brazeId);
        // Whoever is removed is written before: that checks him like the others.
        if (known) update(known, removed);
        else if (!removed) {
          const text = packProfile(profile);
          const { externalId } = profile;
          const characters = text.length;
          rows.inserts.push([profile.brazeId, workspaceId, text]);
          after.push({
            known: { workspaceId, profile, externalId, version, characters },
            version,
            characters,
          });
        }
      }
      for (const [brazeId, known] of found) {
        if (changed.has(brazeId)) continue;
        if (isChecking) update(known);
        else after.push({ known, version: known.version, characters: known.characters });
      }
      // In the order in which others lock them.
      if (isChecking) rows.updates.sort(([a], [b]) => (a! < b! ? -1 : 1));
      for (const { row, isAdded } of keys.values()) (isAdded ? rows.keysAdded : rows.keysRemoved).push(row);
      for (const { row, count } of points.values()) rows.points.push([...row, String(count)]);
      return { rows, after };
    },
  };
};
