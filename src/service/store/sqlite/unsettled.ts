import type { DatabaseSync } from 'node:sqlite';
import type { Profile } from '../../users/profile.ts';
import { tallyEvent } from '../../users/tally.ts';
import { unpackEvents } from '../packed-events.ts';
import type { StoredEvent } from '../store.ts';
import { type Attributes, unpackAttributes } from './packed-attributes.ts';

/**
 * What one request did to one user and the user's row may not know yet. Writing the rows of all its users for every
 * request would cost more than all else; their attributes are in the journal, and what they did is in the events.
 */
export interface Unsettled {
  request: number;
  workspaceId: string;
  brazeId: string;
  attributes: Attributes | null;
  events: StoredEvent[];
}

/** Brings a profile up to what the request left. */
export const settle = (profile: Profile, { attributes, events }: Unsettled): void => {
  // Events first: the attributes were noted when the request was done with the user.
  for (const event of events) tallyEvent(profile, event);
  if (attributes) Object.assign(profile, attributes);
};

/** Reads what is unsettled, in the order of the requests, in one snapshot; of one workspace or of all. */
export const prepareUnsettled = (database: DatabaseSync) => {
  const journal = database.prepare(
    `SELECT request, workspace_id, attributes FROM journal
     WHERE request > (SELECT settled_request FROM progress) AND ifnull(workspace_id = ?, 1) ORDER BY request`,
  );
  const events = database.prepare(
    `SELECT request, workspace_id, received_at_ms, events FROM events
     WHERE request > (SELECT settled_request FROM progress) AND ifnull(workspace_id = ?, 1) ORDER BY request`,
  );
  return (workspaceId: string | null = null): Unsettled[] => {
    database.exec('BEGIN');
    try {
      const found = new Map<string, Unsettled>();
      const of = (row: Record<string, unknown>, brazeId: string): Unsettled => {
        const id = `${row['request']} ${brazeId}`;
        const known = found.get(id);
        if (known) return known;
        const fresh: Unsettled = {
          request: row['request'] as number,
          workspaceId: row['workspace_id'] as string,
          brazeId,
          attributes: null,
          events: [],
        };
        found.set(id, fresh);
        return fresh;
      };
      for (const row of journal.iterate(workspaceId)) {
        for (const { brazeId, attributes } of unpackAttributes(row['attributes'] as string)) {
          of(row, brazeId).attributes = attributes;
        }
      }
      for (const row of events.iterate(workspaceId)) {
        for (const event of unpackEvents(row['events'] as string, row['received_at_ms'] as number)) {
          of(row, event.brazeId).events.push(event);
        }
      }
      return [...found.values()].sort((a, b) => a.request - b.request);
    } finally {
      database.exec('COMMIT');
    }
  };
};

/** A function that brings a row's profile up to date, for readers beside the service. */
export const createCatchUp = (unsettled: Unsettled[]) => {
  const byUser = new Map<string, Unsettled[]>();
  for (const change of unsettled) {
    const changes = byUser.get(change.brazeId);
    if (changes) changes.push(change);
    else byUser.set(change.brazeId, [change]);
  }
  return (profile: Profile, version: number): Profile => {
    for (const change of byUser.get(profile.brazeId) ?? []) {
      if (change.request > version) settle(profile, change);
    }
    return profile;
  };
};
