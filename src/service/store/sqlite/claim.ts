import { closeSync, existsSync, openSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** A service that is just ending gets this long to let go. */
const WAIT_MS = 2_000;

/** Makes a file that its owner alone reads, where there is none: SQLite would make one that every user of the machine reads. */
const makePrivate = (file: string): void => closeSync(openSync(file, 'a', 0o600));

/** The file behind a name, which may be a link: SQLite keeps the log beside that file, and so belongs the lock. */
const realFile = (file: string): string => {
  // Where there is no folder either, SQLite is the one to say so.
  if (!existsSync(dirname(file))) return file;
  // A link to a file that is not there yet cannot be followed. The logs beside the file get its mode from SQLite.
  if (!existsSync(file)) makePrivate(file);
  return realpathSync(file);
};

/** SQLite's code for a lock that another connection holds. */
const SQLITE_BUSY = 5;

/** Where SQLite may not write, it takes no lock and says nothing: a write that is never ended asks whether it may. */
const hold = (lock: DatabaseSync): void => {
  lock.exec(`PRAGMA busy_timeout = ${WAIT_MS}`);
  lock.exec('PRAGMA journal_mode = MEMORY');
  lock.exec('PRAGMA locking_mode = EXCLUSIVE');
  lock.exec('BEGIN EXCLUSIVE');
  lock.exec('PRAGMA user_version = 1');
};

/**
 * Makes this process the only service on a file, and refuses a second one. The claim is a lock on a small database
 * beside the file, one for all its names: the system lets go of it when the process ends, however it ends. Exports do
 * not need it.
 */
export const claimFile = (file: string): (() => void) => {
  const name = `${realFile(file)}-owner`;
  if (existsSync(dirname(name)) && !existsSync(name)) makePrivate(name);
  const lock = new DatabaseSync(name);
  try {
    hold(lock);
  } catch (error) {
    lock.close();
    const { errcode, message } = error as Error & { errcode?: number };
    const problem =
      errcode === SQLITE_BUSY
        ? `Another Placard service is using ${file}: stop it first. One service owns a SQLite file; several share a PostgreSQL database.`
        : `${name}, which keeps other services off the file, cannot be locked: ${message}`;
    throw new Error(problem, { cause: error });
  }
  return () => lock.close();
};
