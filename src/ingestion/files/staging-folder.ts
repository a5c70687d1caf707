import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'placard-ingestion-';

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: a process of another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
};

/** Makes a folder for the copied rows of one run, named after the process that has to remove it. */
export const createStagingFolder = (): Promise<string> => mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));

/** Removes the folders of processes that were killed, because they hold users' data. Call it before the first run. */
export const removeStagingLeftovers = async (): Promise<void> => {
  for (const name of await readdir(tmpdir())) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    // In a container a service that starts again has the number that it had before.
    if (pid === undefined || (Number(pid) !== process.pid && isRunning(Number(pid)))) continue;
    await rm(join(tmpdir(), name), { recursive: true, force: true });
  }
};
