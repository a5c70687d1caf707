import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { createCheckpointer, type WrittenFile } from './checkpointer.ts';
import type { Rows } from './rows.ts';
import { writeProblemOf } from './write-problem.ts';
import { createWriter, prepareForWriting } from './writer.ts';

/** The thread that owns the connection which writes: the disk's waiting and SQLite's work stay off the service's thread. */
const written = workerData as WrittenFile;
const database = new DatabaseSync(written.file);
prepareForWriting(database);
const write = createWriter(database);
const checkpointer = createCheckpointer(database, written);

parentPort?.on('message', async (rows: Rows | 'close') => {
  if (rows === 'close') {
    await checkpointer.close();
    database.close();
    parentPort?.close();
    return;
  }
  try {
    write(rows);
    parentPort?.postMessage(null);
  } catch (error) {
    parentPort?.postMessage(writeProblemOf(error));
  }
  checkpointer.committed();
});
