import { realpathSync, statfsSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

/** Bytes that are free on the volume of a file. */
const freeBytesBeside = (file: string) => () => {
  const { bavail, bsize } = statfsSync(file);
  return bavail * bsize;
};

/**
 * Keeps room for what the write-ahead log holds, all of which may have to be added to the file: where it cannot be, the
 * log never starts anew, takes what is left, and keeps it. To be asked beside every commit; where the volume has less
 * room than the log takes it moves the log into the file, and answers true.
 */
export const createLogRoom = (database: DatabaseSync, file: string, freeBytes = freeBytesBeside(file)) => {
  const log = `${realpathSync(file)}-wal`;
  const move = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  const isShort = () => {
    try {
      return freeBytes() < statSync(log).size;
    } catch {
      // Not every volume says what it has, and before the first commit there is no log.
      return false;
    }
  };
  return (): boolean => {
    if (!isShort()) return false;
    // From now on a log that starts anew gives back what it does not need. With room enough it keeps it, as it is
    // written faster then.
    database.exec('PRAGMA journal_size_limit = 0');
    try {
      move.get();
    } catch {
      // The disk is full. What could not be moved waits for the next time; the commits that fail are told.
    }
    return true;
  };
};
