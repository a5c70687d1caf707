import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'placard-ingestion-';

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process belongs to another user.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
};

/** Creates a folder for the staged rows of a run. Its name contains the ID of the process that must remove it. */
export const createStagingFolder = (): Promise<string> => mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));

/** Removes the folders of killed processes, because they contain user data. Call it before the first run. */
export const removeStagingLeftovers = async (): Promise<void> => {
  for (const name of await readdir(tmpdir())) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    // In a container, a restarted service can have the same process ID.
    if (pid === undefined || (Number(pid) !== process.pid && isRunning(Number(pid)))) continue;
    await rm(join(tmpdir(), name), { recursive: true, force: true });
  }
};
