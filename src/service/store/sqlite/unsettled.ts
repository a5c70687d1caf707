import type { DatabaseSync } from 'node:sqlite';
import type { Profile } from '../../profiles/profile.ts';
import { tallyEvent } from '../../profiles/tally.ts';
import { unpackEvents } from '../packed-events.ts';
import { unpackAttributes } from './packed-attributes.ts';

/** A profile as it is, though its row may be behind. */
export interface Settled {
  workspaceId: string;
  profile: Profile;
  /** The last request that its row knows of. */
  version: number;
}

/** What one row of the journal or of the events brought to users whose rows do not know it. */
export interface Unsettled {
  request: number;
  /** What it took to read it. */
  characters: number;
  users: Settled[];
}

export interface SettlingOptions {
  /** One workspace, or all. */
  workspaceId?: string | null;
  /** The user's row. */
  load(workspaceId: string, brazeId: string): Omit<Settled, 'workspaceId'> | undefined;
  onRow?(row: Unsettled): void;
}

/**
 * What a request did to a user the user's row may not know yet: writing the rows of all its users for every request
 * would cost more than all else. Their attributes are in the journal, and what they did is in the events.
 */
export const prepareSettling = (database: DatabaseSync) => {
  // Events first: the attributes were noted when the request was done with the user. Both are kept in the order of the
  // requests, so that they are read one row after the other, and none of it is held.
  const unsettled = database.prepare(
    `SELECT request, 0 AS is_journal, workspace_id, received_at_ms, events AS text FROM events
     WHERE request > (SELECT settled_request FROM progress) AND ifnull(workspace_id = ?1, 1)
     UNION ALL
     SELECT request, 1, workspace_id, 0, attributes FROM journal
     WHERE request > (SELECT settled_request FROM progress) AND ifnull(workspace_id = ?1, 1)
     ORDER BY request, is_journal`,
  );

  /**
   * Brings the users whose rows are behind up to date, as one snapshot has them; by `braze_id`. A user who is gone is
   * null there. It holds as many profiles, and no more, however long they have been behind.
   */
  return ({ workspaceId = null, load, onRow }: SettlingOptions): Map<string, Settled | null> => {
    const known = new Map<string, Settled | null>();
    const find = (workspaceOfRow: string, brazeId: string): Settled | null => {
      let user = known.get(brazeId);
      if (user === undefined) {
        const row = load(workspaceOfRow, brazeId);
        user = row ? { workspaceId: workspaceOfRow, ...row } : null;
        known.set(brazeId, user);
      }
      return user;
    };
    database.exec('BEGIN');
    try {
      for (const row of unsettled.iterate(workspaceId)) {
        const request = row['request'] as number;
        const text = row['text'] as string;
        const users = new Set<Settled>();
        const settle = (brazeId: string, bring: (profile: Profile) => void) => {
          const user = find(row['workspace_id'] as string, brazeId);
          if (user === null || user.version >= request) return;
          bring(user.profile);
          users.add(user);
        };
        if (row['is_journal'] === 1) {
          for (const { brazeId, attributes } of unpackAttributes(text)) {
            settle(brazeId, (profile) => Object.assign(profile, attributes));
          }
        } else {
          for (const event of unpackEvents(text, row['received_at_ms'] as number)) {
            settle(event.brazeId, (profile) => tallyEvent(profile, event));
          }
        }
        onRow?.({ request, characters: text.length, users: [...users] });
      }
      return known;
    } finally {
      database.exec('COMMIT');
    }
  };
};
