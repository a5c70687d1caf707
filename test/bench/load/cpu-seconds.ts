import { readFileSync } from 'node:fs';
import { getDescendants } from '../../helpers/process-tree.ts';

const TICKS_PER_SECOND = 100;

const ofOne = (pid: number): number => {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // User and system time of the process and its reaped children.
    const ticks = status
      .slice(status.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15);
    return ticks.reduce((sum, each) => sum + Number(each), 0) / TICKS_PER_SECOND;
  } catch {
    // Exited since it was listed.
    return 0;
  }
};

/** Returns the CPU seconds of a process and its descendants. Needs `/proc`. */
export const cpuSeconds = async (pid: number): Promise<number> => {
  const all = [pid, ...(await getDescendants(pid)).map((child) => child.pid)];
  return all.reduce((sum, each) => sum + ofOne(each), 0);
};
