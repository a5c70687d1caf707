import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';

interface Process {
  pid: number;
  parent: number;
  /** Exited, but not yet reaped. */
  isZombie: boolean;
  /** Command line, separated by spaces. */
  command: string;
}

const read = async (pid: string): Promise<Process[]> => {
  try {
    const [status, command] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
    ]);
    // The second field is a name in parentheses, which may contain spaces and parentheses.
    const [state, parent] = status.slice(status.lastIndexOf(')') + 2).split(' ');
    const isZombie = state === 'Z';
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        isZombie,
        command: command.split('\0').filter(Boolean).join(' '),
      },
    ];
  } catch {
    // Exited since the folder was listed.
    return [];
  }
};

/** Returns the descendants of a process. Needs `/proc`. */
export const getDescendants = async (root: number): Promise<Process[]> => {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const all = (await Promise.all(pids.map(read))).flat();
  const found: Process[] = [];
  for (let parents = [root]; parents.length > 0; ) {
    const children = all.filter(({ parent }) => parents.includes(parent));
    found.push(...children);
    parents = children.map(({ pid }) => pid);
  }
  return found;
};

/** Resolves when the process has exited, reaped or not, so that its files and locks are released. Needs `/proc`. */
export const hasEnded = async (pid: number): Promise<void> => {
  for (;;) {
    const [process] = await read(String(pid));
    if (process === undefined || process.isZombie) return;
    await nextTurn();
  }
};

/** Resolves when the process has exited and was reaped. Needs `/proc`. */
export const isGone = async (pid: number): Promise<void> => {
  while (existsSync(`/proc/${pid}`)) await nextTurn();
};
