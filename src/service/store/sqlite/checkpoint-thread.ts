import { fsyncSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { prepareForWriting } from './writer.ts';

/** The thread that moves the write-ahead log into the file while the writer goes on. */
const { file, fileDescriptor } = workerData as { file: string; fileDescriptor: number };
const database = new DatabaseSync(file);
prepareForWriting(database);
const checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');

/**
 * SQLite syncs the file when a checkpoint has caught up with the log, which under load is the writer's last short one:
 * it would wait there for all that was moved here. The second round moves what came during the first.
 */
const move = () => {
  for (let round = 0; round < 2; round += 1) {
    checkpoint.get();
    fsyncSync(fileDescriptor);
  }
};

parentPort?.on('message', (message: 'checkpoint' | 'close') => {
  if (message === 'close') {
    database.close();
    parentPort?.close();
    return;
  }
  let problem: string | null = null;
  try {
    move();
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  parentPort?.postMessage(problem);
});
