import type { Pool } from 'pg';
import { checkTablesAre, type Migration, migrationsFrom, schemaNumber } from '../migrations.ts';
import { POSTGRES_TABLES } from '../tables.ts';
import { distributeTables } from './distribute.ts';
import { type Run, runIn } from './statement.ts';
import { inTransaction } from './transaction.ts';

/** Replicas that start together make the tables one after the other. */
const SCHEMA_LOCK = 7_061_636;

/** Wherever the search path finds it: a schema of the role's name that came later would get a second, empty Placard. */
const numberOf = async (run: Run): Promise<number | null> => {
  const [found] = await run("SELECT to_regclass('placard_schema') IS NOT NULL AS is_there");
  if (found?.['is_there'] !== true) return null;
  const [row] = await run<{ version: number }>('SELECT version FROM placard_schema');
  return row?.version ?? null;
};

/** Throws where the database does not have the tables of this Placard. */
export const checkTables = async (pool: Pool): Promise<void> =>
  checkTablesAre(await numberOf(runIn(pool)), 'The database');

/** An encoding that has not every character would refuse some users' texts, and no one would know before. */
const ENCODINGS = ['UTF8', 'SQL_ASCII'];

const refuseEncoding = async (run: Run) => {
  const [row] = await run<{ server_encoding: string }>('SHOW server_encoding');
  const encoding = row!.server_encoding;
  if (!ENCODINGS.includes(encoding))
    throw new Error(
      `The database has the encoding ${encoding}, which cannot store every text: it must be UTF8`,
    );
};

/** Makes the tables, or brings older ones forward, all or nothing. */
export const createTables = async (pool: Pool, migrations?: readonly Migration[]): Promise<void> => {
  await inTransaction(pool, async (run) => {
    await run(`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`);
    await refuseEncoding(run);
    const number = schemaNumber(migrations);
    const found = await numberOf(run);
    if (found !== null) {
      const pending = migrationsFrom(found, 'The database', migrations);
      for (const { postgres } of pending) await run(postgres);
      if (pending.length > 0) await run(`UPDATE placard_schema SET version = ${number}`);
      return;
    }
    await run(POSTGRES_TABLES);
    await distributeTables(run);
    await run('CREATE TABLE placard_schema (version integer NOT NULL)');
    await run(`INSERT INTO placard_schema (version) VALUES (${number})`);
  });
};
