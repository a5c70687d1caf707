import { closeSync, fsyncSync, openSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { openBeside } from './open-beside.ts';
import { checkVersion } from './schema.ts';

/** The thread that copies a file. To SQLite a copy is one call, and whoever makes it hears of nothing until its end. */
const { file, part } = workerData as { file: string; part: string };

// A file of an older Placard as well: before it is brought forward.
const database = openBeside(file, { readOnly: true, check: checkVersion });
try {
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
