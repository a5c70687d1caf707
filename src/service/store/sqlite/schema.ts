import type { DatabaseSync } from 'node:sqlite';
import { checkVersion, SCHEMA_VERSION } from '../schema-version.ts';
import { SQLITE_TABLES } from '../tables.ts';

const versionOf = (database: DatabaseSync): number | null =>
  Number(database.prepare('PRAGMA user_version').get()?.['user_version']) || null;

/** Throws where the file does not have the tables of this Placard. */
export const checkTables = (database: DatabaseSync, file: string): void =>
  checkVersion(versionOf(database), file);

/** Makes the tables, all or nothing: where it throws, closing the database takes back what is there by then. */
export const createTables = (database: DatabaseSync, file: string): void => {
  if (versionOf(database) !== null) {
    checkTables(database, file);
    return;
  }
  const table = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' LIMIT 1").get();
  if (table) throw new Error(`${file} is another program's: it has a table ${JSON.stringify(table['name'])}`);
  database.exec(`BEGIN; ${SQLITE_TABLES} PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
};
