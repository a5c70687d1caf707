import { closeSync, fsyncSync, openSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { openExisting } from './open-existing.ts';
import { prepareForReading } from './reader.ts';
import { checkVersion } from './schema.ts';

/** The thread that copies a file. To SQLite a copy is one call, and whoever makes it hears of nothing until its end. */
const { file, part } = workerData as { file: string; part: string };

const database = openExisting(file, { readOnly: true });
try {
  checkVersion(database, file);
  prepareForReading(database);
  // One read transaction from the first page to the last: the backup interface would begin again at every write.
  database.prepare('VACUUM INTO ?').run(part);
} finally {
  database.close();
}
const descriptor = openSync(part, 'r+');
try {
  fsyncSync(descriptor);
} finally {
  closeSync(descriptor);
}
