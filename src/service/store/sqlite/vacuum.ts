import { claimFile } from './claim.ts';
import { openBeside } from './open-beside.ts';

/** Writes the file anew, without what was deleted. No service may be using it. */
export const vacuumSqlite = (file: string): void => {
  const release = claimFile(file);
  try {
    const database = openBeside(file);
    try {
      database.exec('VACUUM');
      // The log as well has pages of before.
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      database.close();
    }
  } finally {
    release();
  }
};
