// POST banners/sync with and without user tokens on one service, alternating: tokens that the service has cached, and
// tokens that it sees for the first time.
//   PLACARD_BENCH_ROUNDS, PLACARD_BENCH_SECONDS   runs of each kind and their duration (default 3 of 6 s)
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getSpread, median, perSecond, times } from './load/figures.ts';
import { fillWithUsers } from './load/fill.ts';
import { startServer } from './load/processes.ts';
import type { PumpResult } from './load/pump.ts';
import type { Bench, Row } from './row.ts';

const ROUNDS = Number(process.env['PLACARD_BENCH_ROUNDS'] ?? 3);
const SECONDS = Number(process.env['PLACARD_BENCH_SECONDS'] ?? 6);
const CONNECTIONS = 32;
/** Few enough that every token is verified before the measurement. */
const USERS = 3_000;
/** Tokens per user: more than the cache holds, so that each was evicted before it is used again. */
const NEW_TOKENS = 10;

const pumpFile = fileURLToPath(new URL('./load/sync-pump-process.ts', import.meta.url));

const measure = async (port: number, tokens: number): Promise<number> => {
  const child = fork(pumpFile, [port, USERS, CONNECTIONS, SECONDS, tokens].map(String));
  const [{ requests, seconds, statuses }] = (await once(child, 'message')) as [PumpResult];
  if (Object.keys(statuses).some((status) => status !== '200')) {
    throw new Error(`responses other than 200: ${JSON.stringify(statuses)}`);
  }
  return requests / seconds;
};

const run = async (): Promise<Row[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-bench-tokens-'));
  const without: number[] = [];
  const remembered: number[] = [];
  const fresh: number[] = [];
  try {
    const database = join(folder, 'bench.db');
    await fillWithUsers(database, USERS);
    const service = await startServer('./sync-service-process.ts', [database]);
    for (let round = 0; round < ROUNDS; round += 1) {
      without.push(await measure(service.port, 0));
      remembered.push(await measure(service.port, 1));
      fresh.push(await measure(service.port, NEW_TOKENS));
    }
    await service.stop();
  } finally {
    rmSync(folder, { recursive: true });
  }
  const row = (what: string, rates: number[], target?: string): Row => ({
    what,
    figure: perSecond(median(rates)),
    floor: perSecond(median(without)),
    // Ratio of consecutive runs, because other load slows both.
    ratio: times(median(rates.map((rate, round) => rate / without[round]!))),
    spread: `${getSpread(rates)} / ${getSpread(without)}`,
    ...(target !== undefined && { target }),
  });
  return [
    row('banners/sync with user tokens, beside the same without', remembered, '≥ 0.8 ×'),
    row('the same, each token seen for the first time', fresh),
  ];
};

export const benches: Bench[] = [{ name: 'service-tokens', run }];
