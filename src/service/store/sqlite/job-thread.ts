import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { type Job, perform } from './jobs.ts';
import { openShared } from './open.ts';

/** Thread of one job. Requests have priority. On Linux, the priority applies to this thread only. */
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
const job: Job = workerData;
const database = openShared(job.file, { readOnly: true });
try {
  // Reads one snapshot, because a service may be writing. The copy job uses `VACUUM`, which has its own transaction.
  if (job.name !== 'copy') database.exec('BEGIN');
  parentPort?.postMessage(await perform(database, job));
} finally {
  database.close();
}
