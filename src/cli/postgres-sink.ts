import {
  connectPostgres,
  DATA_EVENT_NAMES,
  type DataEvent,
  type DataEventName,
  fileColumns,
  fileRow,
  inTransaction,
  type Run,
} from '../service/index.ts';
import type { Sink } from './sink.ts';

/** Timeouts in milliseconds; 0 disables one. */
const LIMITS = { lockMs: 0, statementMs: 0, idleInTransactionMs: 0, queryMs: 300_000 };

const SQL_TYPES = {
  string: 'text',
  // Currents has 32 bits, which end for times in 2038.
  int: 'bigint',
  long: 'bigint',
  double: 'double precision',
  boolean: 'boolean',
  json: 'jsonb',
} as const;

interface Column {
  name: string;
  type: string;
}

const CURSORS = 'placard_stream_cursors';
const CREATE_CURSORS = `CREATE TABLE IF NOT EXISTS ${CURSORS} (
  workspace_id text, event_types text, cursor text NOT NULL, updated_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, event_types)
)`;

/** Returns the name of the table: the type in lower case with underscores, as in Braze's data shares. */
const tableName = (type: DataEventName): string => type.toLowerCase().replaceAll('.', '_');

const tableColumns = (type: DataEventName): Column[] =>
  fileColumns(type).map(([name, columnType]) => ({
    name,
    type: name === 'id' ? 'uuid' : SQL_TYPES[columnType],
  }));

/** Creates a table, or adds missing columns. Runs no DDL if complete, so that a role without `CREATE` suffices. */
const prepareTable = async (run: Run, table: string, columns: readonly Column[]) => {
  const rows = await run(
    'SELECT attname AS name FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped',
    [table],
  );
  const missing = columns.filter(({ name }) => !rows.some((row) => row['name'] === name));
  const definitions = missing.map(
    ({ name, type }) => `"${name}" ${type}${name === 'id' ? ' PRIMARY KEY' : ''}`,
  );
  if (rows.length === 0) await run(`CREATE TABLE IF NOT EXISTS ${table} (${definitions.join(', ')})`);
  else if (missing.length > 0)
    await run(`ALTER TABLE ${table} ${definitions.map((each) => `ADD COLUMN ${each}`).join(', ')}`);
};

const insertEvents = async (run: Run, type: DataEventName, events: readonly DataEvent[]) => {
  const columns = tableColumns(type);
  const rows = events.map(fileRow);
  await run(
    `INSERT INTO ${tableName(type)} (${columns.map(({ name }) => `"${name}"`).join(', ')})
     SELECT * FROM unnest(${columns.map((column, index) => `$${index + 1}::${column.type}[]`).join(', ')})
     ON CONFLICT (id) DO NOTHING`,
    columns.map(({ name }) => rows.map((row) => row[name] ?? null)),
  );
};

/**
 * Creates a sink with one table per event type. Commits the cursor with the rows. A workspace and a selection of types have their
 * own cursor, so that a further type starts at the beginning.
 */
export const createPostgresSink = (url: string, types: ReadonlySet<DataEventName> | null): Sink => {
  const { pool, close } = connectPostgres(url, 'upkeep', { connections: 1, limits: LIMITS });
  const getStreamKey = (workspaceId = '') => [workspaceId, types === null ? '' : [...types].sort().join(',')];

  return {
    rows: 1_000,
    pollMs: 1_000,
    readCursor: (workspaceId) =>
      inTransaction(pool, async (run) => {
        await run(CREATE_CURSORS);
        for (const type of types ?? DATA_EVENT_NAMES)
          await prepareTable(run, tableName(type), tableColumns(type));
        const [row] = await run(
          `SELECT cursor FROM ${CURSORS} WHERE workspace_id = $1 AND event_types = $2`,
          getStreamKey(workspaceId),
        );
        return row && String(row['cursor']);
      }),
    write: ({ workspaceId, events, through }) =>
      inTransaction(pool, async (run) => {
        for (const [type, rows] of Map.groupBy(events, (event) => event.type))
          await insertEvents(run, type, rows);
        await run(
          `INSERT INTO ${CURSORS} VALUES ($1, $2, $3, now()) ON CONFLICT (workspace_id, event_types)
           DO UPDATE SET cursor = excluded.cursor, updated_at = excluded.updated_at`,
          [...getStreamKey(workspaceId), through],
        );
      }),
    close,
  };
};
