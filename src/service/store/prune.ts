import { type RunSql, textIn } from '../operators/index.ts';
import type { Dialect } from './dialect.ts';
import type { Store } from './store.ts';

/** What happened before these moments goes; `null` keeps all of a kind. Unix milliseconds. */
export interface PruneBefore {
  events: number | null;
  bannerEvents: number | null;
}

/** Rows that went. */
export interface Pruned {
  events: number;
  bannerEvents: number;
  /** Whether older rows may be there still. */
  hasMore: boolean;
}

/**
 * Rows that one step deletes of a table: a millisecond of work and a sync of the disk, which takes far longer. Fewer would take as
 * long, more would keep writes waiting, which come in between.
 */
const ROWS_A_STEP = 250;

/** The table's columns that say which row is meant, where a shard finds them by its primary key. */
const KEYS = {
  events: 'user_id, time, event_id',
  banner_events: 'user_id, campaign_id, banner_id, event_type, time',
};

/** Deletes some old rows, in one statement of both databases. */
const statement = (table: keyof typeof KEYS, { moment }: Dialect) =>
  `DELETE FROM ${table} WHERE (${KEYS[table]}) IN (
     SELECT ${KEYS[table]} FROM ${table} WHERE workspace_id = $1 AND time < ${moment('$2')} LIMIT ${ROWS_A_STEP}
   ) RETURNING user_id`;

/**
 * Deletes some of a workspace's old events. Users, their keys and what a decision needs to know of them stay, and so do the counts
 * of campaigns. On SQLite an index says so where nothing is old. PostgreSQL's knows blocks of all workspaces: a step looks into those that once
 * held old rows, which takes 4 ms after a million deleted rows, and reads the old rows that other workspaces keep.
 */
export const createPrune =
  (run: RunSql, dialect: Dialect): Store['prune'] =>
  async (workspaceId, before) => {
    const prune = async (table: keyof typeof KEYS, ms: number | null) =>
      ms === null ? 0 : (await run(statement(table, dialect), [workspaceId, ms])).length;
    const events = await prune('events', before.events);
    const bannerEvents = await prune('banner_events', before.bannerEvents);
    return { events, bannerEvents, hasMore: Math.max(events, bannerEvents) === ROWS_A_STEP };
  };

/** Finds users without a profile of whom nothing came since a moment. A client key makes such users, and only retention deletes them. */
export const createFindStale =
  (run: RunSql, dialect: Dialect): Store['staleUsers'] =>
  async (workspaceId, beforeMs) => {
    const rows = await run(
      `SELECT external_id FROM users
       WHERE workspace_id = $1 AND profile IS NULL AND updated_at < ${dialect.moment('$2')} ORDER BY updated_at LIMIT 200`,
      [workspaceId, beforeMs],
    );
    return rows.map((row) => textIn(row, 'external_id'));
  };
