import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { SourceError } from '../source-error.ts';
import { type Staging, stage } from './stage.ts';

/** What the process sends: the names of columns that rows have, or what is wrong with the files. */
export type StageMessage = { names: readonly (readonly string[])[] } | { problem: string };

/** The first argument is the ID of the process that started this one. */
const parent = Number(process.argv[2]);
/** Ends the process once its parent was killed, though its own thread may be deep in a statement of SQLite. */
const END_WITH_PARENT = `setInterval(() => {
  if (process.ppid !== ${parent}) process.kill(process.pid, 'SIGKILL');
}, 250);`;

if (process.platform === 'linux') {
  // Requests go first, and if the machine is out of memory, this process ends and not the service.
  setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
  writeFileSync('/proc/self/oom_score_adj', '1000');
}
new Worker(END_WITH_PARENT, { eval: true }).unref();

process.once('message', async (staging: Staging) => {
  const message: StageMessage = await stage(staging).then(
    (names) => ({ names }),
    (error) => ({
      problem: error instanceof SourceError ? error.message : `reading failed: ${(error as Error).message}`,
    }),
  );
  process.send?.(message, () => process.disconnect());
});
