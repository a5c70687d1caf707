import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs';
import { openExisting } from './open-existing.ts';
import { prepareForReading } from './reader.ts';
import { checkVersion } from './schema.ts';

/**
 * Copies a SQLite file as it is at one moment, while the service goes on writing it. The copy is a plain file without
 * a log beside it; it is on the disk when this returns. An existing file is never written over.
 */
export const backupSqlite = (file: string, destination: string): void => {
  if (existsSync(destination)) throw new Error(`${destination} exists already; a backup writes over nothing`);
  const database = openExisting(file, { readOnly: true });
  try {
    checkVersion(database, file);
    prepareForReading(database);
    // One read transaction from the first page to the last: the backup interface would begin again at every write.
    database.prepare('VACUUM INTO ?').run(destination);
  } finally {
    database.close();
  }
  const copy = openSync(destination, 'r+');
  fsyncSync(copy);
  closeSync(copy);
};
