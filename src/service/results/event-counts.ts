import { type BulkStatement, type Dialect, query } from '../sql/dialect.ts';
import { type RunSql, readText, type SqlRow, type SqlValue } from '../sql/row-readers.ts';
import { pickFields, type RowOf } from '../sql/table.ts';
import { createWrites } from '../sql/writes.ts';
import { EVENT_COUNTS, type EventCount } from './tables.ts';

export type EventKind = 'event' | 'purchase';

/** Adds rows with the totals of all products. */
const withAllProducts = (counts: readonly EventCount[]): EventCount[] => {
  const all = new Map<string, EventCount>();
  for (const count of counts) {
    if (count.kind !== 'purchase') continue;
    const { workspaceId, startsAtMs, appId, currency } = count;
    const key = JSON.stringify([workspaceId, startsAtMs, appId, currency]);
    const sum = all.get(key);
    if (!sum) {
      all.set(key, { ...count, name: '' });
      continue;
    }
    sum.quantity += count.quantity;
    sum.revenue += count.revenue;
  }
  return [...counts, ...all.values()];
};

export const createEventCountStatements = (dialect: Dialect) => {
  const add = createWrites(dialect).add(EVENT_COUNTS);
  const startsAt = dialect.quarterHour(dialect.earlier('occurred_at', 'received_at'));
  return {
    /** Returns a statement that counts the events of a range of the feed. */
    countEvents: (after: number, through: number): BulkStatement =>
      query(
        `SELECT workspace_id, CASE WHEN product_id IS NULL THEN 'event' ELSE 'purchase' END AS kind,
           coalesce(product_id, name) AS name, ${startsAt} AS starts_at, coalesce(app_id, '') AS app_id,
           coalesce(currency, '') AS currency, sum(coalesce(quantity, 1)) AS quantity,
           coalesce(sum(price * quantity), 0) AS revenue
         FROM events WHERE event_id > $1 AND event_id <= $2 GROUP BY 1, 2, 3, 4, 5, 6`,
        after,
        through,
      ),
    /** Returns a statement that adds the rows of `countEvents`. */
    addEventCounts: (rows: readonly SqlRow[]): BulkStatement =>
      add(withAllProducts(rows.map(EVENT_COUNTS.read))),
  };
};

/** Requested counts of events. */
export interface EventCountsQuery {
  kind: EventKind;
  /** Event name or product ID; `null` for all products. */
  name: string | null;
  /** App ID; `null` for all apps. */
  appId: string | null;
  /** Range from `fromMs` (inclusive) to `toMs` (exclusive), in Unix milliseconds. */
  fromMs: number;
  toMs: number;
}

const QUARTER_HOUR = pickFields(EVENT_COUNTS, ['startsAtMs', 'currency', 'quantity', 'revenue']);
/** Events of one quarter hour. */
export type QuarterHour = RowOf<typeof QUARTER_HOUR>;

/** Reads at most one row per quarter hour and currency. */
export const readEventCounts = async (
  run: RunSql,
  { ms, timestamp }: Dialect,
  workspaceId: string,
  { kind, name, appId, fromMs, toMs }: EventCountsQuery,
): Promise<QuarterHour[]> => {
  const values: SqlValue[] = [workspaceId, kind, name ?? '', fromMs, toMs];
  if (appId !== null) values.push(appId);
  const rows = await run(
    `SELECT ${ms('starts_at')} AS starts_at, currency, sum(quantity) AS quantity, sum(revenue) AS revenue FROM event_counts
     WHERE workspace_id = $1 AND kind = $2 AND name = $3 AND starts_at >= ${timestamp('$4')} AND starts_at < ${timestamp('$5')}
       ${appId === null ? '' : 'AND app_id = $6'}
     GROUP BY 1, 2 ORDER BY 1, 2`,
    values,
  );
  return rows.map(QUARTER_HOUR.read);
};

/** Seeks each distinct name, because `DISTINCT` would read every quarter hour. */
const NAMES = `WITH RECURSIVE names(name) AS (
    SELECT min(name) FROM event_counts WHERE workspace_id = $1 AND kind = $2 AND name > ''
    UNION ALL
    SELECT (SELECT min(name) FROM event_counts WHERE workspace_id = $1 AND kind = $2 AND name > names.name)
    FROM names WHERE names.name IS NOT NULL
  ) SELECT name FROM names WHERE name IS NOT NULL LIMIT $3 OFFSET $4`;

/** Requested page of names. */
export interface EventNamesQuery {
  kind: EventKind;
  limit: number;
  offset: number;
}

export const readEventNames = async (
  run: RunSql,
  workspaceId: string,
  { kind, limit, offset }: EventNamesQuery,
): Promise<string[]> =>
  (await run(NAMES, [workspaceId, kind, limit, offset])).map((row) => readText(row, 'name'));
