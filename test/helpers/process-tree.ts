import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';

interface Process {
  pid: number;
  parent: number;
  /** It has ended, and its parent has not taken note yet. */
  isZombie: boolean;
  /** The command line, its words with one space between them. */
  command: string;
}

const read = async (pid: string): Promise<Process[]> => {
  try {
    const [status, command] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
    ]);
    // The second field is a name in brackets, which may hold anything.
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
    // It has ended since the folder was listed.
    return [];
  }
};

/** All processes that a process has started, and those that they have. Needs `/proc`. */
export const descendantsOf = async (root: number): Promise<Process[]> => {
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

/** Resolves when the process has ended, whether or not anybody has taken note: its files and locks are free. Needs `/proc`. */
export const hasEnded = async (pid: number): Promise<void> => {
  for (;;) {
    const [process] = await read(String(pid));
    if (process === undefined || process.isZombie) return;
    await nextTurn();
  }
};

/** Resolves when the process has ended and its parent has taken note of it. Needs `/proc`. */
export const isGone = async (pid: number): Promise<void> => {
  while (existsSync(`/proc/${pid}`)) await nextTurn();
};
