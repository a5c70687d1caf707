import { HOUR_MS } from '../../protocol/index.ts';
import { createBatchSizer } from '../results/batch-size.ts';
import type { Progress } from '../results/consumer.ts';
import type { PrunedEvents } from '../results/prune-events.ts';
import {
  type EventRange,
  type ResultsCursor,
  type ResultsStatements,
  toCursor,
} from '../results/statements.ts';
import { formatColumnNames, readMs } from '../sql/columns.ts';
import type { Dialect } from '../sql/dialect.ts';
import { type RunSql, readNumber, readText } from '../sql/row-readers.ts';
import { BANNER_EVENT_KEY } from '../sql/user-tables.ts';
import type { Store } from './store.ts';

/** Maximum number of positions of the feed, or of rows, that one batch visits. Writes wait for a batch on SQLite. */
const MAX_BATCH_ROWS = 16_000;
const FIRST_BATCH_ROWS = 250;
/**
 * Overlap of two runs. If the clocks of replicas differ, rows are not exactly in the order of receipt, so the next run visits the
 * latest rows again.
 */
const CLOCKS_DIFFER_MS = HOUR_MS;

/** Returns a statement that deletes banner events. Compares the key columns, which find a row within its shard. */
const deleteBannerEvents = ({ earlier, timestamp }: Dialect) => {
  const key = formatColumnNames(BANNER_EVENT_KEY.columns);
  return `DELETE FROM banner_events WHERE (${key}) IN (
     SELECT ${key} FROM banner_events
     WHERE workspace_id = $1 AND ${earlier('occurred_at', 'received_at')} < ${timestamp('$2')} AND banner_event_id <= $3 LIMIT $4
   ) RETURNING user_id`;
};

const deleteChanges = ({ timestamp }: Dialect) =>
  `DELETE FROM user_changes WHERE workspace_id = $1 AND changed_at < ${timestamp('$2')} AND change_id <= $3`;

export interface PruneOptions {
  run: RunSql;
  dialect: Dialect;
  results: ResultsStatements;
  catchUp(): Promise<Progress>;
  pruneEvents(range: EventRange): Promise<PrunedEvents>;
}

/** Deletes rows of one table in a batch. Returns the number of rows, and whether there may be more. */
type PruneBatch = (limit: number) => Promise<{ rows: number; hasMore: boolean }>;

/** Returns a function that runs batches, and adapts their size to their duration. */
const createBatchRunner = () => {
  const batchSizer = createBatchSizer({
    first: FIRST_BATCH_ROWS / MAX_BATCH_ROWS,
    min: FIRST_BATCH_ROWS / MAX_BATCH_ROWS,
  });
  return async (batch: PruneBatch): ReturnType<PruneBatch> => {
    const started = performance.now();
    const result = await batch(Math.ceil(MAX_BATCH_ROWS * batchSizer.share()));
    if (result.rows > 0) batchSizer.report(performance.now() - started);
    return result;
  };
};

/**
 * Returns a function that deletes some of a workspace's old events that the results have read. It keeps users, their identifiers,
 * the state for decisions, and results. Events are stored in order of receipt, so a batch deletes a range and needs no index by
 * time. PostgreSQL's BRIN index of banner events covers blocks of all workspaces, so a batch also visits blocks that once held old
 * rows, and reads old rows that other workspaces keep.
 */
export const createPrune = ({
  run,
  dialect,
  results,
  catchUp,
  pruneEvents,
}: PruneOptions): Store['prune'] => {
  const [runEventBatch, runBannerEventBatch] = [createBatchRunner(), createBatchRunner()];
  /** Position up to which all old events are deleted, and position of the last old event that the results have read, by workspace. */
  const ranges = new Map<string, { after: number; last: number; beforeMs: number; isComplete: boolean }>();

  const findFirstEvent = async (eventId: number) =>
    (
      await run(
        `SELECT event_id, ${dialect.ms('received_at')} AS received_at FROM events WHERE event_id >= $1 ORDER BY event_id LIMIT 1`,
        [eventId],
      )
    )[0];
  /** Returns the last event received before a time, by bisection. */
  const findLastEventBefore = async (beforeMs: number, through: number) => {
    let [low, high] = [0, through + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const row = await findFirstEvent(middle);
      if (row && readNumber(row, 'event_id') <= through && readMs(row, 'received_at') < beforeMs)
        low = readNumber(row, 'event_id') + 1;
      else high = middle;
    }
    return low - 1;
  };

  const getRange = async (workspaceId: string, beforeMs: number, through: number, isComplete: boolean) => {
    const previous = ranges.get(workspaceId);
    const isSameRun = previous?.beforeMs === beforeMs;
    if (isSameRun && previous.isComplete) return previous;
    // The previous run may have failed before its last event.
    const startOfRun = async () =>
      previous
        ? Math.min(previous.after, await findLastEventBefore(previous.beforeMs - CLOCKS_DIFFER_MS, through))
        : 0;
    const after = isSameRun ? previous.after : await startOfRun();
    const range = { after, last: await findLastEventBefore(beforeMs, through), beforeMs, isComplete };
    ranges.set(workspaceId, range);
    return range;
  };

  return async (workspaceId, before) => {
    const { isCaughtUp } = await catchUp();
    const { sql, values } = results.cursor();
    const cursor: ResultsCursor = toCursor((await run(sql, values))[0]);

    const pruneOldEvents = async (beforeMs: number, limit: number): ReturnType<PruneBatch> => {
      const range = await getRange(workspaceId, beforeMs, cursor.events, isCaughtUp);
      const first = range.after < range.last ? await findFirstEvent(range.after + 1) : undefined;
      if (!first || readNumber(first, 'event_id') > range.last) return { rows: 0, hasMore: false };
      const after = readNumber(first, 'event_id') - 1;
      const to = Math.min(range.last, after + limit);
      const { rows, through } = await pruneEvents({ workspaceId, after, through: to, beforeMs });
      range.after = through;
      return { rows, hasMore: through < range.last };
    };
    const pruneOldBannerEvents = async (beforeMs: number, limit: number): ReturnType<PruneBatch> => {
      const values = [workspaceId, beforeMs, cursor.bannerEvents, limit];
      const { length: rows } = await run(deleteBannerEvents(dialect), values);
      await run(deleteChanges(dialect), [workspaceId, beforeMs, cursor.userChanges]);
      return { rows, hasMore: rows === limit };
    };

    const none = { rows: 0, hasMore: false };
    const { events: eventsMs, bannerEvents: bannerEventsMs } = before;
    const events = eventsMs === null ? none : await runEventBatch((limit) => pruneOldEvents(eventsMs, limit));
    const bannerEvents =
      bannerEventsMs === null
        ? none
        : await runBannerEventBatch((limit) => pruneOldBannerEvents(bannerEventsMs, limit));
    return {
      events: events.rows,
      bannerEvents: bannerEvents.rows,
      // The results have not read all old rows yet.
      hasMore: events.hasMore || bannerEvents.hasMore || !isCaughtUp,
    };
  };
};

/**
 * Returns a function that finds users without a profile and without activity since a time. Client keys create such users, and
 * only retention deletes them.
 */
export const createFindExpiredStubs =
  (run: RunSql, dialect: Dialect): Store['expiredStubUsers'] =>
  async (workspaceId, beforeMs) => {
    const rows = await run(
      `SELECT external_id FROM users
       WHERE workspace_id = $1 AND profile IS NULL AND updated_at < ${dialect.timestamp('$2')} ORDER BY updated_at LIMIT 200`,
      [workspaceId, beforeMs],
    );
    return rows.map((row) => readText(row, 'external_id'));
  };
