// POST banners/sync: three placements and a hundred active campaigns. Floor: a server that returns a stored body.
// With few users, which the database holds in memory, and with many. There is no floor for PostgreSQL.
//   PLACARD_BENCH_ROUNDS, PLACARD_BENCH_SECONDS   runs of each kind and their duration (default 3 of 6 s)
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '../helpers/postgres-server.ts';
import { getSpread, median, ms, perSecond, times } from './load/figures.ts';
import { fillWithUsers } from './load/fill.ts';
import { fillPostgresWithUsers } from './load/fill-postgres.ts';
import { startServer } from './load/processes.ts';
import type { PumpResult } from './load/pump.ts';
import { syncRequest } from './load/sync-workspace.ts';
import type { Bench, Row } from './row.ts';

const ROUNDS = Number(process.env['PLACARD_BENCH_ROUNDS'] ?? 3);
const SECONDS = Number(process.env['PLACARD_BENCH_SECONDS'] ?? 6);
const CONNECTIONS = 32;
/** Users that fit SQLite's page cache, and far more than that. */
const KNOWN_USERS = 10_000;
const MANY_USERS = 500_000;

const pumpFile = fileURLToPath(new URL('./load/sync-pump-process.ts', import.meta.url));

const measure = async (port: number, users: number): Promise<PumpResult> => {
  const child = fork(pumpFile, [port, users, CONNECTIONS, SECONDS].map(String));
  const [result] = (await once(child, 'message')) as [PumpResult];
  const others = Object.keys(result.statuses).filter((status) => status !== '200');
  if (others.length > 0) throw new Error(`responses other than 200: ${JSON.stringify(result.statuses)}`);
  return result;
};

/** Returns the service's response for one user, which is the floor's stored body. */
const anAnswer = async (port: number): Promise<string> => {
  const [, body = ''] = syncRequest(0).toString().split('\r\n\r\n');
  const response = await fetch(`http://127.0.0.1:${port}/v1/device-messaging/banners/sync`, {
    method: 'POST',
    headers: { Authorization: 'Bearer bench-client-key', 'Content-Type': 'application/json' },
    body,
  });
  const text = await response.text();
  if (!text.includes('Katarzyna')) throw new Error(`The service found no user or no banner: ${text}`);
  return text;
};

const rates = (results: PumpResult[]) => results.map(({ requests, seconds }) => requests / seconds);
const p99 = (results: PumpResult[]) => median(results.map((result) => result.p99));

const compare = async (users: number, whose: string): Promise<Row[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-bench-sync-'));
  try {
    const database = join(folder, 'bench.db');
    const stored = join(folder, 'answer.json');
    await fillWithUsers(database, users);
    const floors: PumpResult[] = [];
    const ours: PumpResult[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const service = await startServer('./sync-service-process.ts', [database]);
      writeFileSync(stored, await anAnswer(service.port));
      ours.push(await measure(service.port, users));
      await service.stop();
      const floor = await startServer('./sync-floor-process.ts', [database, stored]);
      floors.push(await measure(floor.port, users));
      await floor.stop();
    }
    return [
      {
        what: `banners/sync, 3 placements, 100 campaigns, SQLite, ${whose}`,
        figure: perSecond(median(rates(ours))),
        floor: perSecond(median(rates(floors))),
        ratio: times(median(rates(ours)) / median(rates(floors))),
        spread: `${getSpread(rates(ours))} / ${getSpread(rates(floors))}`,
        target: '≥ 0.5 ×',
      },
      { what: 'its p99', figure: ms(p99(ours)), floor: ms(p99(floors)) },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const onPostgres = async (users: number): Promise<Row[]> => {
  const server = await startPostgres(['-c', 'shared_buffers=1GB']);
  try {
    const url = await server.createDatabase();
    await fillPostgresWithUsers(url, users);
    const results: PumpResult[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const service = await startServer('./sync-service-process.ts', [url]);
      await anAnswer(service.port);
      results.push(await measure(service.port, users));
      await service.stop();
    }
    return [
      {
        what: 'banners/sync, 3 placements, 100 campaigns, PostgreSQL, 10,000 users',
        figure: perSecond(median(rates(results))),
        spread: getSpread(rates(results)),
      },
      { what: 'its p99', figure: ms(p99(results)) },
    ];
  } finally {
    await server.stop();
  }
};

const run = async (): Promise<Row[]> => [
  ...(await compare(KNOWN_USERS, '10,000 users')),
  ...(await compare(MANY_USERS, '500,000 users, most of them not in memory')),
  ...(await onPostgres(KNOWN_USERS)),
];

export const benches: Bench[] = [{ name: 'service-sync', run }];
