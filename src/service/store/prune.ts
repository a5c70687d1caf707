import { type RunSql, readNumber, readText } from '../operators/index.ts';
import type { Progress } from '../results/follow.ts';
import { cursorIn, type ResultsCursor, resultsStatements } from '../results/statements.ts';
import { msIn } from '../sql/columns.ts';
import { type Dialect, SQLITE } from '../sql/dialect.ts';
import type { Store } from './store.ts';

/** Rows before these times are deleted; `null` keeps all of a kind. Unix milliseconds. */
export interface PruneBefore {
  /** By receipt. */
  events: number | null;
  /** By the earlier of time and receipt. */
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
 * Maximum number of rows that one step deletes from a table. Deleting takes a millisecond, and the disk sync far longer. Writes
 * wait for a step.
 */
const ROWS_PER_STEP = 250;
/** Maximum number of events that one step reads on SQLite, including those of other workspaces. */
const SCANNED_PER_STEP = 20_000;

/** The key columns find a row within its shard. */
const deleteOld = (table: string, key: string, id: string, time: string, { moment }: Dialect) =>
  `DELETE FROM ${table} WHERE (${key}) IN (
     SELECT ${key} FROM ${table} WHERE workspace_id = $1 AND ${time} < ${moment('$2')} AND ${id} <= $3
     LIMIT ${ROWS_PER_STEP}
   ) RETURNING user_id`;

const deleteChanges = ({ moment }: Dialect) =>
  `DELETE FROM user_changes WHERE workspace_id = $1 AND changed_at < ${moment('$2')} AND change_id <= $3`;

/** Deletes old rows of one table. Returns the number, and whether there may be more. */
type DeleteRows = (
  workspaceId: string,
  beforeMs: number,
  through: number,
) => Promise<{ rows: number; hasMore: boolean }>;

/** SQLite stores events in order of receipt, without another index. */
const createPruneLog = (run: RunSql): DeleteRows => {
  /** By workspace: ID up to which all old events are deleted. */
  const done = new Map<string, number>();

  const firstFrom = async (eventId: number) =>
    (
      await run('SELECT event_id, received_at FROM events WHERE event_id >= $1 ORDER BY event_id LIMIT 1', [
        eventId,
      ])
    )[0];
  /** Returns the last event received before a time, by bisection. */
  const lastBefore = async (beforeMs: number, through: number) => {
    let [low, high] = [0, through + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const row = await firstFrom(middle);
      if (row && readNumber(row, 'event_id') <= through && msIn(row, 'received_at') < beforeMs)
        low = readNumber(row, 'event_id') + 1;
      else high = middle;
    }
    return low - 1;
  };

  return async (workspaceId, beforeMs, through) => {
    const last = await lastBefore(beforeMs, through);
    const from = await firstFrom((done.get(workspaceId) ?? 0) + 1);
    if (!from || readNumber(from, 'event_id') > last) return { rows: 0, hasMore: false };
    const after = readNumber(from, 'event_id') - 1;
    const scanned = Math.min(last, after + SCANNED_PER_STEP);
    const deleted = await run(
      `DELETE FROM events WHERE event_id IN (
         SELECT event_id FROM events WHERE event_id > $1 AND event_id <= $2 AND workspace_id = $3 ORDER BY event_id LIMIT ${ROWS_PER_STEP}
       ) RETURNING event_id`,
      [after, scanned, workspaceId],
    );
    const isFull = deleted.length === ROWS_PER_STEP;
    const to = isFull ? Math.max(...deleted.map((row) => readNumber(row, 'event_id'))) : scanned;
    done.set(workspaceId, to);
    return { rows: deleted.length, hasMore: to < last };
  };
};

interface PruneOptions {
  run: RunSql;
  dialect: Dialect;
  catchUp(): Promise<Progress>;
}

/**
 * Deletes some of a workspace's old events that the results have read. Keeps users, their identifiers, the state for decisions,
 * and results. PostgreSQL's index (BRIN) covers blocks of all workspaces: a step visits blocks that once held old rows, which
 * takes 4 ms after a million deleted rows, and reads old rows that other workspaces keep.
 */
export const createPrune = ({ run, dialect, catchUp }: PruneOptions): Store['prune'] => {
  const deleteWith = (sql: string): DeleteRows => {
    return async (...values) => {
      const { length: rows } = await run(sql, values);
      return { rows, hasMore: rows === ROWS_PER_STEP };
    };
  };
  const pruneEvents =
    dialect === SQLITE
      ? createPruneLog(run)
      : deleteWith(deleteOld('events', 'user_id, occurred_at, event_id', 'event_id', 'received_at', dialect));
  const pruneBannerEvents = deleteWith(
    deleteOld(
      'banner_events',
      'user_id, campaign_id, banner_id, event_type, occurred_at',
      'banner_event_id',
      dialect.earlier('occurred_at', 'received_at'),
      dialect,
    ),
  );

  return async (workspaceId, before) => {
    await catchUp();
    const { sql, values } = resultsStatements(dialect).cursor();
    const cursor: ResultsCursor = cursorIn((await run(sql, values))[0]);
    const none = { rows: 0, hasMore: false };
    const events =
      before.events === null ? none : await pruneEvents(workspaceId, before.events, cursor.events);
    if (before.bannerEvents === null)
      return { events: events.rows, bannerEvents: 0, hasMore: events.hasMore };
    const bannerEvents = await pruneBannerEvents(workspaceId, before.bannerEvents, cursor.bannerEvents);
    await run(deleteChanges(dialect), [workspaceId, before.bannerEvents, cursor.userChanges]);
    return {
      events: events.rows,
      bannerEvents: bannerEvents.rows,
      hasMore: events.hasMore || bannerEvents.hasMore,
    };
  };
};

/**
 * Finds users without a profile and without activity since a time. Client keys create such users, and only retention deletes
 * them.
 */
export const createFindExpiredStubs =
  (run: RunSql, dialect: Dialect): Store['expiredStubUsers'] =>
  async (workspaceId, beforeMs) => {
    const rows = await run(
      `SELECT external_id FROM users
       WHERE workspace_id = $1 AND profile IS NULL AND updated_at < ${dialect.moment('$2')} ORDER BY updated_at LIMIT 200`,
      [workspaceId, beforeMs],
    );
    return rows.map((row) => readText(row, 'external_id'));
  };
