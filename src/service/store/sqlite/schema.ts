import type { DatabaseSync } from 'node:sqlite';
import { checkTablesAre, type Migration, migrationsFrom, schemaNumber } from '../migrations.ts';
import { SQLITE_TABLES } from '../tables.ts';

const numberOf = (database: DatabaseSync): number | null =>
  Number(database.prepare('PRAGMA user_version').get()?.['user_version']) || null;

/** Throws where the file does not have the tables of this Placard. */
export const checkTables = (database: DatabaseSync, file: string): void =>
  checkTablesAre(numberOf(database), file);

/**
 * Makes the tables, or brings older ones forward, all or nothing: where it throws, closing the database takes back what is there
 * by then.
 */
export const createTables = (
  database: DatabaseSync,
  file: string,
  migrations?: readonly Migration[],
): void => {
  const run = (sql: string) =>
    database.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${schemaNumber(migrations)}; COMMIT`);
  const found = numberOf(database);
  if (found !== null) {
    const pending = migrationsFrom(found, file, migrations);
    if (pending.length > 0) run(pending.map(({ sqlite }) => sqlite).join(';'));
    return;
  }
  const table = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' LIMIT 1").get();
  if (table) throw new Error(`${file} is another program's: it has a table ${JSON.stringify(table['name'])}`);
  run(SQLITE_TABLES);
};
