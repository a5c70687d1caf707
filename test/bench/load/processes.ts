import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { PumpResult } from './pump.ts';
import type { PumpOrder } from './pump-process.ts';

const start = (file: string, args: string[] = [], env: Record<string, string> = {}): ChildProcess =>
  fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, ...env },
  });

export interface RunningServer {
  port: number;
  process: ChildProcess;
  stop(): Promise<void>;
}

/** Starts a server of this folder in a child process and waits for its port. */
export const startServer = async (
  file: string,
  args: string[],
  env?: Record<string, string>,
): Promise<RunningServer> => {
  const child = start(file, args, env);
  const exited = once(child, 'exit');
  const [message] = (await Promise.race([
    once(child, 'message'),
    exited.then(() => {
      throw new Error(`${file} ended before it listened`);
    }),
  ])) as [{ port: number }];
  return {
    port: message.port,
    process: child,
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
};

/** Runs the load generator in a child process. */
export const load = async (order: PumpOrder): Promise<PumpResult> => {
  const child = start('./pump-process.ts');
  await once(child, 'message');
  child.send(order);
  const [result] = (await once(child, 'message')) as [PumpResult];
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
  return result;
};
