import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { freePort } from './free-port.ts';

const isUp = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    const log: string[] = [];
    createInterface({ input: child.stderr! }).on('line', (line) => {
      log.push(line);
      if (line.includes('process up')) resolve();
    });
    child.once('exit', () => reject(new Error(`PgBouncer ended: ${log.join('\n')}`)));
  });

export interface PgBouncerOptions {
  mode: 'session' | 'transaction' | 'statement';
  settings?: string;
}

/** Starts a real PgBouncer in front of a database until the test ends; returns the pooled URL. */
export const startPgBouncer = async (
  url: string,
  { mode, settings = '' }: PgBouncerOptions,
): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'placard-pgbouncer-'));
  const port = await freePort();
  const { hostname, port: serverPort, username, password, pathname } = new URL(url);
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(
    file,
    `[databases]
shop = host=${hostname} port=${serverPort} dbname=${pathname.slice(1)} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
ignore_startup_parameters = extra_float_digits
${settings}
`,
  );
  // PgBouncer does not run as root.
  await chmod(folder, 0o755);
  const asNobody = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn('pgbouncer', [...asNobody, file], { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGINT');
    await exited;
    await rm(folder, { recursive: true });
  });
  await isUp(child);
  return `postgres://anybody@127.0.0.1:${port}/shop`;
};
