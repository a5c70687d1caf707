import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs';

/** Where the header of a SQLite file says whether it may have a write-ahead log: 2 where it may, 1 for a plain file. */
const WRITE_VERSION_AT = 18;
const PLAIN = 1;

/**
 * Throws where a plain file, such as a backup, lies beside a write-ahead log: it was put in the place of a file whose
 * service ended in a crash. SQLite would play that log into it, and neither would be whole.
 */
export const checkLog = (file: string): void => {
  const log = `${realpathSync(file)}-wal`;
  if (!statSync(log, { throwIfNoEntry: false })?.size) return;
  const header = Buffer.alloc(WRITE_VERSION_AT + 1);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, header, 0, header.length, 0);
  } finally {
    closeSync(descriptor);
  }
  if (header[WRITE_VERSION_AT] !== PLAIN) return;
  throw new Error(
    `${log} is the log of another file than ${file}, which is a copy: remove it and the -shm file`,
  );
};
