import type { DatabaseSync } from 'node:sqlite';
import { SQLITE_STUDIO_TABLES } from '../../operators/index.ts';
import { TABLES } from './tables.ts';

/** Each entry brings a file from the version that is its index to the next one. Never edit one that was released. */
const MIGRATIONS: string[] = [`${TABLES}${SQLITE_STUDIO_TABLES}`];

export const SQLITE_VERSION = MIGRATIONS.length;

const versionOf = (database: DatabaseSync): number =>
  Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);

/** Throws where the file was written by a newer Placard. */
export const checkVersion = (database: DatabaseSync, file: string): number => {
  const version = versionOf(database);
  if (version > SQLITE_VERSION) {
    throw new Error(
      `${file} has schema version ${version}, this Placard knows versions up to ${SQLITE_VERSION}: use a newer Placard or another file`,
    );
  }
  return version;
};

/** Throws where the file is not of this Placard's version: a reader brings nothing forward. */
export const checkIsCurrent = (database: DatabaseSync, file: string): void => {
  if (checkVersion(database, file) < SQLITE_VERSION) {
    throw new Error(`${file} is of an older Placard: start the service once, which brings it forward`);
  }
};

/** Throws where a file that no service has made has tables: it is another program's. */
const checkIsOurs = (database: DatabaseSync, file: string): void => {
  const table = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' LIMIT 1").get();
  if (table) throw new Error(`${file} is another program's: it has a table ${JSON.stringify(table['name'])}`);
};

/** Brings the file forward, all or nothing. */
export const migrate = (database: DatabaseSync, file: string): void => {
  const before = checkVersion(database, file);
  if (before === SQLITE_VERSION) return;
  if (before === 0) checkIsOurs(database, file);
  database.exec('BEGIN IMMEDIATE');
  try {
    for (let version = checkVersion(database, file); version < SQLITE_VERSION; version += 1) {
      database.exec(MIGRATIONS[version]!);
    }
    database.exec(`PRAGMA user_version = ${SQLITE_VERSION}`);
    database.exec('COMMIT');
  } catch (error) {
    try {
      database.exec('ROLLBACK');
    } catch {
      // On a disk that is full SQLite has rolled back on its own; the first error is the one to tell.
    }
    throw error;
  }
};
