import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { type Job, perform } from './jobs.ts';
import { openAttached } from './open.ts';

/** The thread of one job. Requests go first: on Linux each thread has a priority of its own. */
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
const job: Job = workerData;
const database = openAttached(job.file, { readOnly: true });
try {
  // As of one moment: a service may be writing. VACUUM, which copies, has a transaction of its own.
  if (job.name !== 'copy') database.exec('BEGIN');
  parentPort?.postMessage(await perform(database, job));
} finally {
  database.close();
}
