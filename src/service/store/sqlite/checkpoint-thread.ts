import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { openShared } from './open.ts';

/** Thread that checkpoints the log for each message. Requests have priority. On Linux, the priority applies to this thread only. */
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
const database = openShared(workerData);
parentPort?.on('message', (message: 'checkpoint' | 'close') => {
  if (message === 'checkpoint') {
    database.exec('PRAGMA wal_checkpoint');
    parentPort?.postMessage(null);
    return;
  }
  database.close();
  parentPort?.close();
});
