import type { Pool } from 'pg';
import { POSTGRES_STUDIO_TABLES } from '../../operators/index.ts';
import { distributeTables } from './distribute.ts';
import { type Run, runIn } from './statement.ts';
import { TABLES } from './tables.ts';
import { inTransaction } from './transaction.ts';

/** Each entry brings a database from the version that is its index to the next one. Never edit one that was released. */
const MIGRATIONS: string[] = [`${TABLES}${POSTGRES_STUDIO_TABLES}`];

export const POSTGRES_VERSION = MIGRATIONS.length;
/** Replicas that start together migrate one after the other. */
const MIGRATION_LOCK = 7_061_636;

const versionOf = async (run: Run): Promise<number> => {
  const [row] = await run<{ version: number }>('SELECT version FROM placard_schema');
  return row?.version ?? 0;
};

const refuseNewer = (version: number) => {
  if (version > POSTGRES_VERSION) {
    throw new Error(
      `The database has schema version ${version}, this Placard knows versions up to ${POSTGRES_VERSION}: use a newer Placard or another database`,
    );
  }
};

const isKnown = async (run: Run): Promise<boolean> => {
  const [row] = await run("SELECT to_regclass('placard_schema') IS NOT NULL AS known");
  return row?.['known'] === true;
};

/** For readers: throws where the database is not of this version. */
export const checkSchema = async (pool: Pool): Promise<void> => {
  const run = runIn(pool);
  if (!(await isKnown(run))) throw new Error('The database holds no Placard data');
  const version = await versionOf(run);
  refuseNewer(version);
  if (version < POSTGRES_VERSION) {
    throw new Error('The database is of an older Placard: start the service once, which brings it forward');
  }
};

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

/** Brings the database forward, all or nothing. */
export const migrate = async (pool: Pool): Promise<void> => {
  await inTransaction(pool, async (run) => {
    await run(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    await refuseEncoding(run);
    // Wherever the search path finds it: a schema of the role's name that came later would get a second, empty Placard.
    if (!(await isKnown(run))) await run('CREATE TABLE placard_schema (version integer NOT NULL)');
    const version = await versionOf(run);
    refuseNewer(version);
    if (version === POSTGRES_VERSION) return;
    for (const step of MIGRATIONS.slice(version)) await run(step);
    if (version === 0) await distributeTables(run);
    await run('DELETE FROM placard_schema');
    await run('INSERT INTO placard_schema (version) VALUES ($1)', [POSTGRES_VERSION]);
  });
};
