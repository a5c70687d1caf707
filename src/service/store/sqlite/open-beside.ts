import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { checkTables } from './schema.ts';

/** How long a connection waits for what another one has locked. */
export const BUSY_MS = 10_000;

/**
 * Opens a file that a service made, and may be writing at this moment. It is not read in place (`mmap_size`): a file that grows
 * is mapped anew with every checkpoint, which costs more than copies.
 */
export const openBeside = (file: string, { readOnly = false } = {}): DatabaseSync => {
  // SQLite would make it, or not say which.
  if (!existsSync(file)) throw new Error(`${file} does not exist`);
  const database = new DatabaseSync(file, { readOnly });
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    checkTables(database, file);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
};
