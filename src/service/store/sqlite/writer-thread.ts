import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { Rows } from './rows.ts';
import { writeProblemOf } from './write-problem.ts';
import { createWriter, prepareForWriting } from './writer.ts';

/** The thread that owns the connection which writes: the disk's waiting and SQLite's work stay off the service's thread. */
const database = new DatabaseSync(workerData as string);
prepareForWriting(database);
const writer = createWriter(database);

const close = () => {
  database.close();
  parentPort?.close();
};

const commit = () => {
  try {
    writer.commit();
    parentPort?.postMessage(null);
  } catch (error) {
    parentPort?.postMessage(writeProblemOf(error));
  }
};

parentPort?.on('message', (message: Rows | 'commit' | 'rollback' | 'close') => {
  if (message === 'close') close();
  else if (message === 'commit') commit();
  else if (message === 'rollback') writer.rollback();
  else writer.write(message);
});
