import { Pool, type PoolClient } from 'pg';
import {
  DATA_EVENT_NAMES,
  type DataEvent,
  type DataEventName,
  fileColumns,
  fileRow,
  normalizeSslMode,
} from '../service/index.ts';
import type { Sink } from './sink.ts';

const CONNECT_MS = 10_000;
const KEEP_ALIVE_MS = 10_000;
const STATEMENT_MS = 300_000;

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
const prepareTable = async (client: PoolClient, table: string, columns: readonly Column[]) => {
  const { rows } = await client.query<{ name: string }>(
    'SELECT attname AS name FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped',
    [table],
  );
  const missing = columns.filter(({ name }) => !rows.some((row) => row.name === name));
  const definitions = missing.map(
    ({ name, type }) => `"${name}" ${type}${name === 'id' ? ' PRIMARY KEY' : ''}`,
  );
  if (rows.length === 0)
    await client.query(`CREATE TABLE IF NOT EXISTS ${table} (${definitions.join(', ')})`);
  else if (missing.length > 0)
    await client.query(`ALTER TABLE ${table} ${definitions.map((each) => `ADD COLUMN ${each}`).join(', ')}`);
};

const insertEvents = async (client: PoolClient, type: DataEventName, events: readonly DataEvent[]) => {
  const columns = tableColumns(type);
  const rows = events.map(fileRow);
  await client.query(
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
  const pool = new Pool({
    connectionString: normalizeSslMode(url, process.env['PGSSLMODE']),
    fallback_application_name: 'placard stream',
    max: 1,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  });
  // The next statement connects again. Without a listener, the `error` event of an idle connection would end the process.
  pool.on('error', () => undefined);
  const getStreamKey = (workspaceId = '') => [workspaceId, types === null ? '' : [...types].sort().join(',')];

  const inTransaction = async <T>(work: (client: PoolClient) => Promise<T>): Promise<T> => {
    const client = await pool.connect();
    let isDone = false;
    try {
      await client.query('BEGIN');
      const result = await work(client);
      await client.query('COMMIT');
      isDone = true;
      return result;
    } finally {
      // Closing the connection rolls back.
      client.release(!isDone);
    }
  };

  return {
    rows: 1_000,
    pollMs: 1_000,
    readCursor: (workspaceId) =>
      inTransaction(async (client) => {
        await client.query(CREATE_CURSORS);
        for (const type of types ?? DATA_EVENT_NAMES)
          await prepareTable(client, tableName(type), tableColumns(type));
        const { rows } = await client.query<{ cursor: string }>(
          `SELECT cursor FROM ${CURSORS} WHERE workspace_id = $1 AND event_types = $2`,
          getStreamKey(workspaceId),
        );
        return rows[0]?.cursor;
      }),
    write: ({ workspaceId, events, through }) =>
      inTransaction(async (client) => {
        for (const [type, rows] of Map.groupBy(events, (event) => event.type))
          await insertEvents(client, type, rows);
        await client.query(
          `INSERT INTO ${CURSORS} VALUES ($1, $2, $3, now()) ON CONFLICT (workspace_id, event_types)
           DO UPDATE SET cursor = excluded.cursor, updated_at = excluded.updated_at`,
          [...getStreamKey(workspaceId), through],
        );
      }),
    close: () => pool.end(),
  };
};
