import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { openExisting } from './open-existing.ts';
import { prepareForReading } from './reader.ts';
import { checkVersion } from './schema.ts';

const sync = (path: string, flags: string): void => {
  const descriptor = openSync(path, flags);
  fsyncSync(descriptor);
  closeSync(descriptor);
};

const copy = (file: string, destination: string): void => {
  const database = openExisting(file, { readOnly: true });
  try {
    checkVersion(database, file);
    prepareForReading(database);
    // One read transaction from the first page to the last: the backup interface would begin again at every write.
    database.prepare('VACUUM INTO ?').run(destination);
  } finally {
    database.close();
  }
  sync(destination, 'r+');
};

/**
 * Copies a SQLite file as it is at one moment, while the service goes on writing it. The copy is a plain file without
 * a log beside it; it is on the disk when this returns. An existing file is never written over. The copy gets its name
 * once it is whole: half of one could be taken for it, and would open as an empty database.
 */
export const backupSqlite = (file: string, destination: string): void => {
  if (existsSync(destination)) throw new Error(`${destination} exists already; a backup writes over nothing`);
  const part = `${destination}.${process.pid}.part`;
  try {
    copy(file, part);
    renameSync(part, destination);
  } catch (error) {
    // On a disk that is full the service needs the room.
    for (const half of [part, `${part}-journal`]) rmSync(half, { force: true });
    throw error;
  }
  // The name as well must be on the disk. Windows opens no folder, and writes names by itself.
  if (process.platform !== 'win32') sync(dirname(destination), 'r');
};
