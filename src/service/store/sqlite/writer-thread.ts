import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { Group } from './group.ts';
import { createWriter, prepareForWriting } from './writer.ts';

/** The thread that owns the connection which writes: the disk's waiting and SQLite's work stay off the service's thread. */
const database = new DatabaseSync((workerData as { file: string }).file);
prepareForWriting(database);
const write = createWriter(database);

parentPort?.on('message', (group: Group | 'close') => {
  if (group === 'close') {
    database.close();
    parentPort?.close();
    return;
  }
  try {
    write(group);
    parentPort?.postMessage(null);
  } catch (error) {
    parentPort?.postMessage(error instanceof Error ? error.message : String(error));
  }
});
