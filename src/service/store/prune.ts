import { type RunSql, textIn } from '../operators/index.ts';
import type { Progress } from '../results/follow.ts';
import { cursorIn, type ResultsCursor, resultsStatements } from '../results/statements.ts';
import type { Dialect } from '../sql/dialect.ts';
import type { Store } from './store.ts';

/** Rows before these times are deleted; `null` keeps all of a kind. Unix milliseconds. */
export interface PruneBefore {
  events: number | null;
  bannerEvents: number | null;
}

/** Deleted rows. */
export interface Pruned {
  events: number;
  bannerEvents: number;
  /** Whether there may be more old rows. */
  hasMore: boolean;
}

/**
 * Rows that one step deletes of a table: a millisecond of work and a sync of the disk, which takes far longer. Fewer would take as
 * long, more would keep writes waiting, which come in between.
 */
const ROWS_A_STEP = 250;

interface PrunedTable {
  /** Columns that identify a row, by which a shard finds it through its primary key. */
  key: string;
  /** In commit order. */
  id: string;
  /** The earlier of time and receipt: a wrong clock keeps no row for ever. */
  time(dialect: Dialect): string;
  cursor: keyof Pick<ResultsCursor, 'events' | 'bannerEvents'>;
}

const TABLES = {
  events: {
    key: 'user_id, occurred_at, event_id',
    id: 'event_id',
    // Never after its receipt.
    time: () => 'occurred_at',
    cursor: 'events',
  },
  banner_events: {
    key: 'user_id, campaign_id, banner_id, event_type, occurred_at',
    id: 'banner_event_id',
    time: ({ earlier }) => earlier('occurred_at', 'received_at'),
    cursor: 'bannerEvents',
  },
} satisfies Record<string, PrunedTable>;

const statement = (table: keyof typeof TABLES, dialect: Dialect) => {
  const { key, id, time }: PrunedTable = TABLES[table];
  return `DELETE FROM ${table} WHERE (${key}) IN (
     SELECT ${key} FROM ${table} WHERE workspace_id = $1 AND ${time(dialect)} < ${dialect.moment('$2')} AND ${id} <= $3
     LIMIT ${ROWS_A_STEP}
   ) RETURNING user_id`;
};

const deleteChanges = ({ moment }: Dialect) =>
  `DELETE FROM user_changes WHERE workspace_id = $1 AND changed_at < ${moment('$2')} AND change_id <= $3`;

interface PruneOptions {
  run: RunSql;
  dialect: Dialect;
  catchUp(): Promise<Progress>;
}

/**
 * Deletes some of a workspace's old events, as far as the results have read them. Users, their identifiers, what a decision needs to know
 * of them and results stay. On SQLite an index says when nothing is old. PostgreSQL's knows blocks of all workspaces: a step looks into
 * those that once held old rows, which takes 4 ms after a million deleted rows, and reads the old rows that other workspaces keep.
 */
export const createPrune =
  ({ run, dialect, catchUp }: PruneOptions): Store['prune'] =>
  async (workspaceId, before) => {
    await catchUp();
    const { sql, values } = resultsStatements(dialect).cursor();
    const cursor = cursorIn((await run(sql, values))[0]);
    const prune = async (table: keyof typeof TABLES, ms: number | null) =>
      ms === null
        ? 0
        : (await run(statement(table, dialect), [workspaceId, ms, cursor[TABLES[table].cursor]])).length;
    const events = await prune('events', before.events);
    const bannerEvents = await prune('banner_events', before.bannerEvents);
    if (before.bannerEvents !== null)
      await run(deleteChanges(dialect), [workspaceId, before.bannerEvents, cursor.userChanges]);
    return { events, bannerEvents, hasMore: Math.max(events, bannerEvents) === ROWS_A_STEP };
  };

/** Finds users without a profile with nothing new since a time. A client key makes such users, and only retention deletes them. */
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
