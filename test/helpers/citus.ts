import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from './free-port.ts';
import { getDescendants, hasEnded } from './process-tree.ts';

/** PostgreSQL versions on Debian and Ubuntu. */
const VERSIONS = '/usr/lib/postgresql';

/** Returns the `bin` folder of a PostgreSQL with the Citus extension, or `null` if none is installed. */
export const installedCitus = (): string | null => {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS) : [];
  const version = versions.find((name) => existsSync(join(VERSIONS, name, 'lib/citus.so')));
  return version ? join(VERSIONS, version, 'bin') : null;
};

/** PostgreSQL does not run as root; it runs as its package's user then. */
const asServer = (): { uid?: number; gid?: number } => {
  if (process.getuid?.() !== 0) return {};
  const getId = (flag: string) => Number(execFileSync('id', [flag, 'postgres']).toString());
  return { uid: getId('-u'), gid: getId('-g') };
};

const SETTINGS = `
shared_preload_libraries = 'citus'
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 100
max_prepared_transactions = 100
shared_buffers = 64MB
fsync = off
citus.node_conninfo = 'sslmode=prefer'
# What a node that was killed has left half committed is settled soon after it is back.
citus.recover_2pc_interval = '1s'
`;

export interface CitusCluster {
  /** URL of a database with the extension. */
  url: string;
  /** Runs one statement on the coordinator. */
  run(statement: string): Promise<Record<string, unknown>[]>;
  /** Kills a node: 0 is the coordinator, 1 and 2 are workers. */
  kill(node: number): Promise<void>;
  /** PID of a node; its backends are children of it. */
  getPid(node: number): number;
  /** Restarts a node. */
  start(node: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a coordinator and workers on free loopback ports, with data in a temporary folder. */
export const startCitus = async (bin: string, { workers = 2, settings = '' } = {}): Promise<CitusCluster> => {
  const allNodes = Array.from({ length: workers + 1 }, (_, node) => node);
  const user = asServer();
  const folder = mkdtempSync(join(tmpdir(), 'placard-citus-'));
  chmodSync(folder, 0o777);
  const data = (node: number) => join(folder, `n${node}`);
  const call = (program: string, ...args: string[]) =>
    execFileSync(join(bin, program), args, { ...user, cwd: folder, stdio: 'ignore' });
  const ports: number[] = [];
  for (const _ of allNodes) ports.push(await freePort());
  const getUrl = (node: number, database: string) =>
    `postgres://postgres@127.0.0.1:${ports[node]}/${database}`;
  const runOn = async (url: string, ...statements: string[]) => {
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    try {
      let rows: Record<string, unknown>[] = [];
      for (const statement of statements) ({ rows } = await client.query(statement));
      return rows;
    } finally {
      await client.end();
    }
  };

  call('initdb', '-D', data(0), '-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--locale=C', '-N');
  appendFileSync(join(data(0), 'postgresql.conf'), `${SETTINGS}${settings}\n`);
  for (const node of allNodes.slice(1)) execFileSync('cp', ['-a', data(0), data(node)]);
  const processes = new Map<number, ReturnType<typeof spawn>>();

  const start = async (node: number) => {
    rmSync(join(data(node), 'postmaster.pid'), { force: true });
    const args = ['-D', data(node), '-p', String(ports[node])];
    const server = spawn(join(bin, 'postgres'), args, { ...user, cwd: folder, stdio: 'ignore' });
    processes.set(node, server);
    const exited = new Promise<never>((_, reject) =>
      server.once('exit', (code) => reject(new Error(`Node ${node} ended with ${code}`))),
    );
    exited.catch(() => undefined);
    const answers = async () => {
      while (server.exitCode === null) {
        try {
          return await runOn(getUrl(node, 'postgres'), 'SELECT 1');
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
    };
    await Promise.race([answers(), exited]);
  };
  const kill = async (node: number) => {
    const server = processes.get(node)!;
    // With its backends, which would keep the shared memory attached.
    const all = [{ pid: server.pid! }, ...(await getDescendants(server.pid!))];
    const ended = new Promise((resolve) => server.once('exit', resolve));
    for (const { pid } of all) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Already exited.
      }
    }
    await ended;
    await Promise.all(all.map(({ pid }) => hasEnded(pid)));
  };

  await Promise.all(allNodes.map(start));
  await Promise.all(
    allNodes.map(async (node) => {
      await runOn(getUrl(node, 'postgres'), 'CREATE DATABASE placard');
      await runOn(getUrl(node, 'placard'), 'CREATE EXTENSION citus');
    }),
  );
  const url = getUrl(0, 'placard');
  const nodes = allNodes.slice(1).map((node) => `SELECT citus_add_node('127.0.0.1', ${ports[node]})`);
  await runOn(url, `SELECT citus_set_coordinator_host('127.0.0.1', ${ports[0]})`, ...nodes);
  return {
    url,
    run: (statement) => runOn(url, statement),
    getPid: (node) => processes.get(node)!.pid!,
    kill,
    start,
    async stop() {
      await Promise.all(allNodes.filter((node) => processes.get(node)?.exitCode === null).map(kill));
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
