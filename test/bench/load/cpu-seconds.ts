import { readFileSync } from 'node:fs';
import { descendantsOf } from '../../helpers/process-tree.ts';

const TICKS_PER_SECOND = 100;

const ofOne = (pid: number): number => {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Its own time and that of children that have ended, as user and in the kernel.
    const ticks = status
      .slice(status.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15);
    return ticks.reduce((sum, each) => sum + Number(each), 0) / TICKS_PER_SECOND;
  } catch {
    // It has ended since it was listed.
    return 0;
  }
};

/** CPU seconds of a process and all that it has started. Needs `/proc`. */
export const cpuSeconds = async (pid: number): Promise<number> => {
  const all = [pid, ...(await descendantsOf(pid)).map((child) => child.pid)];
  return all.reduce((sum, each) => sum + ofOne(each), 0);
};
