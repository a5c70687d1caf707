import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { SourceError } from '../source-error.ts';
import { type Staging, stage } from './stage.ts';

/** The thread that reads files. Requests go first: on Linux each thread has a priority of its own. */
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
try {
  parentPort?.postMessage({ names: await stage(workerData as Staging) });
} catch (error) {
  // A class does not cross to the other thread.
  if (!(error instanceof SourceError)) throw error;
  parentPort?.postMessage({ problem: error.message });
}
