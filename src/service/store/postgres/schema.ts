import type { Pool } from 'pg';
import { LOCKS } from '../../sql/advisory-locks.ts';
import { readText } from '../../sql/row-readers.ts';
import { USERS } from '../../sql/user-tables.ts';
import { createInsert } from '../../sql/writes.ts';
import { checkSchema, SCHEMA, type TableColumns, tableNames } from '../schema.ts';
import { POSTGRES_TABLES, SCHEMA_VERSION, TABLES } from '../tables.ts';
import { type Connections, connect } from './connect.ts';
import { requireOwnSession } from './own-session.ts';
import { createPoolRun, inTransaction, type Run } from './statement.ts';

/** Whether the database is the coordinator of a Citus cluster. */
export const isSharded = async (run: Run): Promise<boolean> =>
  (await run("SELECT 1 FROM pg_extension WHERE extname = 'citus'")).length > 0;

/** A group writes to every shard, so fewer shards are faster. Two shards per worker let the cluster double its workers. */
const SHARDS_PER_WORKER = 2;
const CHOOSE_SHARDS = `SELECT set_config('citus.shard_count', (greatest(count(*), 1) * ${SHARDS_PER_WORKER})::text, true)
  FROM citus_get_active_worker_nodes()
  WHERE (SELECT source = 'default' FROM pg_settings WHERE name = 'citus.shard_count')`;

/**
 * Distributes new tables over the nodes of a cluster. Small tables stay on the coordinator. If `citus.shard_count` is set for the
 * database or the role, it is the number of shards.
 */
export const distributeTables = async (run: Run): Promise<void> => {
  if (!(await isSharded(run))) return;
  await run(CHOOSE_SHARDS);
  for (const { name, distributedBy } of TABLES) {
    if (distributedBy === null) continue;
    const colocateWith = distributedBy === 'user_id' && name !== USERS.name ? USERS.name : 'none';
    await run(
      `SELECT create_distributed_table('${name}', '${distributedBy}', colocate_with => '${colocateWith}')`,
    );
  }
};

/**
 * Returns the schema version of the tables on the search path. Searches the whole path, because otherwise a schema with the
 * role's name that is added later would get a second, empty set of tables.
 */
const readSchemaVersion = async (run: Run): Promise<number | null> => {
  const [found] = await run(`SELECT to_regclass('${SCHEMA_VERSION.name}') IS NOT NULL AS is_there`);
  if (found?.['is_there'] !== true) return null;
  const [row] = await run(`SELECT version FROM ${SCHEMA_VERSION.name}`);
  return row ? SCHEMA_VERSION.read(row).version : null;
};

const COLUMNS = `SELECT name, attname FROM unnest($1::text[]) AS name
  JOIN pg_attribute ON attrelid = to_regclass(name) AND attnum > 0 AND NOT attisdropped`;

/** Throws if the tables are not those of this build. */
const checkTables = async (run: Run): Promise<void> => {
  const number = await readSchemaVersion(run);
  const columns: TableColumns = new Map();
  for (const row of await run(COLUMNS, [tableNames('postgres')])) {
    const [table, column] = [readText(row, 'name'), readText(row, 'attname')];
    columns.set(table, (columns.get(table) ?? new Set()).add(column));
  }
  checkSchema('The database', number, 'postgres', columns);
};

/** Accepted encodings. With another encoding, the database would reject the text of some users, and only on write. */
const ENCODINGS = ['UTF8', 'SQL_ASCII'];

const refuseEncoding = async (run: Run) => {
  const [row] = await run('SHOW server_encoding');
  const encoding = readText(row!, 'server_encoding');
  if (!ENCODINGS.includes(encoding))
    throw new Error(
      `The database has the encoding ${encoding}, which cannot store every text: it must be UTF8`,
    );
};

/** Creates the tables atomically if they do not exist. Otherwise checks them. */
export const createTables = async (pool: Pool): Promise<void> => {
  await inTransaction(pool, async (run) => {
    await run(`SELECT pg_advisory_xact_lock(${LOCKS.schema})`);
    await refuseEncoding(run);
    if ((await readSchemaVersion(run)) === null) {
      await run(POSTGRES_TABLES);
      await distributeTables(run);
      const { sql, values } = createInsert(SCHEMA_VERSION)({ version: SCHEMA });
      await run(sql, values);
    }
    await checkTables(run);
  });
};

/** Connects to a database that a service has created and may be using. */
export const connectShared = async (url: string, connections = 1): Promise<Connections> => {
  await requireOwnSession(url);
  const connected = connect(url, 'upkeep', { connections });
  try {
    await checkTables(createPoolRun(connected.pool));
    return connected;
  } catch (error) {
    await connected.close();
    throw error;
  }
};
