import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { SourceError } from '../source-error.ts';
import { type Staging, stage } from './stage.ts';

/** Result of the process: column names of the rows, or a problem with the files. */
export type StageMessage = { columnNames: readonly (readonly string[])[] } | { problem: string };

/** Process ID of the parent. */
const parent = Number(process.argv[2]);
/** Thread that exits after the parent is killed, even if the main thread is blocked in a SQLite statement. */
const END_WITH_PARENT = `setInterval(() => {
  if (process.ppid !== ${parent}) process.kill(process.pid, 'SIGKILL');
}, 250);`;

if (process.platform === 'linux') {
  // Lowers the priority, so that requests take precedence. If memory runs out, the kernel kills this process, not the service.
  setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
  writeFileSync('/proc/self/oom_score_adj', '1000');
}
new Worker(END_WITH_PARENT, { eval: true }).unref();

process.once('message', async (staging: Staging) => {
  const message: StageMessage = await stage(staging).then(
    (columnNames) => ({ columnNames }),
    (error: unknown) => ({ problem: SourceError.from(error, 'reading failed: ').message }),
  );
  process.send?.(message, () => process.disconnect());
});
