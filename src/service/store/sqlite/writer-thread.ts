import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { Rows } from './rows.ts';
import { type WriteProblem, writeProblemOf } from './write-problem.ts';
import { createWriter, prepareForWriting } from './writer.ts';

/** The thread that owns the connection which writes: the disk's waiting and SQLite's work stay off the service's thread. */
const database = new DatabaseSync(workerData as string);
prepareForWriting(database);
const write = createWriter(database);

const problemOf = (rows: Rows): WriteProblem | null => {
  try {
    write(rows);
    return null;
  } catch (error) {
    return writeProblemOf(error);
  }
};

parentPort?.on('message', (message: Rows | 'close') => {
  if (message !== 'close') {
    parentPort?.postMessage(problemOf(message));
    return;
  }
  database.close();
  parentPort?.close();
});
