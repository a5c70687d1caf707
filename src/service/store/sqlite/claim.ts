import { DatabaseSync } from 'node:sqlite';

/** A service that is just ending gets this long to let go. */
const WAIT_MS = 2_000;

/**
 * Makes this process the only service on a file, and tells a second one so. The claim is a lock on a small database
 * beside the file: the system lets go of it when the process ends, however it ends. Exports do not need it.
 */
export const claimFile = (file: string): (() => void) => {
  const lock = new DatabaseSync(`${file}-owner`);
  try {
    lock.exec(`PRAGMA busy_timeout = ${WAIT_MS}`);
    lock.exec('PRAGMA journal_mode = DELETE');
    lock.exec('PRAGMA locking_mode = EXCLUSIVE');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    throw new Error(
      `Another Placard service is using ${file}. One service owns a SQLite file; several share a PostgreSQL database.`,
      { cause: error },
    );
  }
  return () => lock.close();
};
