import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { openExisting } from './open-existing.ts';
import { prepareForReading } from './reader.ts';
import { checkVersion } from './schema.ts';

const sync = (path: string, flags: string): void => {
  const descriptor = openSync(path, flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
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

const refuse = (destination: string): never => {
  throw new Error(`${destination} exists already; a backup writes over nothing`);
};

/** Gives the copy its name. A link is refused where the name is taken, even if that was just now. */
const rename = (part: string, destination: string): void => {
  try {
    linkSync(part, destination);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') refuse(destination);
    // Not every file system has links.
    renameSync(part, destination);
  }
  rmSync(part, { force: true });
};

/** The name as well must be on the disk. */
const syncName = (destination: string): void => {
  try {
    sync(dirname(destination), 'r');
  } catch {
    // Windows opens no folder, nor anybody one that may only be written, and some network's file systems sync none. The
    // copy is whole and has its name; the system writes that by itself, only later.
  }
};

/**
 * Copies a SQLite file as it is at one moment, while the service goes on writing it. The copy is a plain file without
 * a log beside it; it is on the disk when this returns. An existing file is never written over. The copy gets its name
 * once it is whole: half of one could be taken for it, and would open as an empty database.
 */
export const backupSqlite = (file: string, destination: string): void => {
  if (existsSync(destination)) refuse(destination);
  const part = `${destination}.${process.pid}.part`;
  try {
    copy(file, part);
    rename(part, destination);
  } catch (error) {
    // On a disk that is full the service needs the room.
    for (const half of [part, `${part}-journal`]) rmSync(half, { force: true });
    throw error;
  }
  syncName(destination);
};
