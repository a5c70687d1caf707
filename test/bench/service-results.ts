// Results of a campaign with a million exposed users on SQLite, and the latency of `banners/sync` in the meantime.
//   PLACARD_BENCH_ROUNDS, PLACARD_BENCH_SECONDS   runs of each kind and their duration (default 3 of 6 s)
//   PLACARD_BENCH_USERS                           exposed users (default 1,000,000)
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getSpread, median, ms, times } from './load/figures.ts';
import { fillWithResults } from './load/fill-results.ts';
import { startServer } from './load/processes.ts';
import type { PumpResult } from './load/pump.ts';
import { inFolder, ROUNDS, SECONDS } from './load/track-rate.ts';
import type { Bench, Row } from './row.ts';

const USERS = Number(process.env['PLACARD_BENCH_USERS'] ?? 1_000_000);
/** Syncs per second whose latency is measured: a tenth of the capacity. */
const RATE = 200;
const CONNECTIONS = 8;

const pumpFile = fileURLToPath(new URL('./load/sync-pump-process.ts', import.meta.url));

/** Returns the p99 latency of syncs in milliseconds. */
const watch = async (port: number): Promise<number> => {
  const child = fork(pumpFile, [port, Math.min(USERS, 100_000), CONNECTIONS, SECONDS, 0, RATE].map(String));
  const [{ p99, statuses }] = (await once(child, 'message')) as [PumpResult];
  if (Object.keys(statuses).some((status) => status !== '200')) {
    throw new Error(`responses other than 200: ${JSON.stringify(statuses)}`);
  }
  return p99;
};

/** Returns the seconds that reading the results takes. */
const count = async (service: ChildProcess): Promise<number> => {
  service.send('results');
  const [{ seconds, exposed }] = (await once(service, 'message')) as [{ seconds: number; exposed: number }];
  if (exposed !== USERS) throw new Error(`${exposed} users were counted, not ${USERS}`);
  return seconds;
};

const run = (): Promise<Row[]> =>
  inFolder(async (folder) => {
    const database = join(folder, 'results.db');
    await fillWithResults(database, USERS);
    const { port, process: service, stop } = await startServer('./sync-service-process.ts', [database]);
    const alone: number[] = [];
    const p99Alone: number[] = [];
    const p99Beside: number[] = [];
    const beside: number[] = [];
    await watch(port);
    await count(service);
    for (let round = 0; round < ROUNDS; round += 1) {
      alone.push(await count(service));
      p99Alone.push(await watch(port));
      let isOver = false;
      const counting = (async () => {
        while (!isOver) beside.push(await count(service));
      })();
      p99Beside.push(await watch(port));
      isOver = true;
      await counting;
    }
    await stop();
    const inMs = (values: number[]) => ms(median(values) * 1000);
    return [
      {
        what: `results of a campaign, ${USERS.toLocaleString('en')} users exposed, two goals, SQLite`,
        figure: inMs(alone),
        spread: `${getSpread(alone.map((value) => value * 1000))} ms`,
        target: '< 50 ms',
      },
      { what: `the same beside ${RATE} syncs a second`, figure: inMs(beside) },
      {
        what: 'p99 of those syncs',
        figure: ms(median(p99Beside)),
        floor: `${ms(median(p99Alone))} alone`,
        ratio: times(median(p99Beside) / median(p99Alone)),
        spread: `${getSpread(p99Beside)} / ${getSpread(p99Alone)} ms`,
        target: '≤ 3 ×',
      },
    ];
  });

export const benches: Bench[] = [{ name: 'service-results', run }];
