import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { aWorkspace } from './a-workspace.ts';
import { getProgram } from './built-programs.ts';
import { getDescendants, hasEnded } from './process-tree.ts';

export interface ServiceProcess {
  port: number;
  process: ChildProcess;
  /** Kills it with SIGKILL. */
  kill(): Promise<void>;
  /** Stops it with SIGTERM; resolves with its exit code. */
  stop(): Promise<number | null>;
}

/** Starts the service in a child process. `command`: optional wrapper of node, such as `strace`. */
export const startServiceProcess = async (
  database: string,
  options: { workspace?: Record<string, unknown>; command?: string[] } = {},
): Promise<ServiceProcess> => {
  const { workspace = aWorkspace(), command = [] } = options;
  const program = await getProgram('service-child');
  const [file = '', ...args] = [...command, process.execPath, program, database, JSON.stringify(workspace)];
  // A process group, so that a wrapper is killed together with node.
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaints += chunk;
  });
  const port = await Promise.race([
    once(child.stdout, 'data').then(([chunk]) => Number(String(chunk))),
    exited.then(() => {
      throw new Error(`The service did not start: ${complaints}`);
    }),
  ]);
  const signal = (name: 'SIGKILL' | 'SIGTERM') => {
    try {
      process.kill(-child.pid!, name);
    } catch (error) {
      // Already exited.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  return {
    port,
    process: child,
    kill: async () => {
      // A wrapper may exit before node.
      const all = await getDescendants(child.pid!);
      signal('SIGKILL');
      await exited;
      await Promise.all(all.map(({ pid }) => hasEnded(pid)));
    },
    stop: async () => {
      signal('SIGTERM');
      const [code] = await exited;
      return code;
    },
  };
};
