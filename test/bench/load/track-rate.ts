import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load, type RunningServer, startServer } from './processes.ts';
import { BENCH_KEY } from './workspace.ts';

/** Runs of each kind and their duration. */
export const ROUNDS = Number(process.env['PLACARD_BENCH_ROUNDS'] ?? 3);
export const SECONDS = Number(process.env['PLACARD_BENCH_SECONDS'] ?? 6);
export const WARM_UP_SECONDS = SECONDS / 2;
export const CONNECTIONS = 32;
/** Objects per request. */
export const OBJECTS = 75;
/** Number of active users; in a large table they are spread over all of it. */
export const ACTIVE_USERS = 10_000;

export const order = (server: RunningServer, more: Record<string, number> = {}) => ({
  port: server.port,
  key: BENCH_KEY,
  connections: CONNECTIONS,
  seconds: SECONDS,
  warmUpSeconds: WARM_UP_SECONDS,
  users: ACTIVE_USERS,
  ...more,
});

/** Returns the requests per second with status 201; throws on any other status. */
export const getRate = async (server: RunningServer, more: Record<string, number> = {}): Promise<number> => {
  const result = await load(order(server, more));
  const others = Object.keys(result.statuses).filter((status) => status !== '201');
  if (others.length > 0) throw new Error(`responses other than 201: ${JSON.stringify(result.statuses)}`);
  return result.requests / result.seconds;
};

export const inFolder = async <T>(work: (folder: string) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-bench-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

export const service = (database: string) => startServer('./service-process.ts', [database]);
