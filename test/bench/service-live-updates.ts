// Checks for changed campaigns by 10,000 open pages, each every five seconds: before a release, when the service responds from
// memory, and in the five seconds after it, when each check is a sync. Then both without a limit. SQLite, 100 campaigns.
//   PLACARD_BENCH_ROUNDS, PLACARD_BENCH_SECONDS   runs of each kind and their duration (default 3 of 6 s)
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuSeconds } from './load/cpu-seconds.ts';
import { getSpread, median, ms, perSecond, times } from './load/figures.ts';
import { fillWithUsers } from './load/fill.ts';
import { startServer } from './load/processes.ts';
import type { PumpResult } from './load/pump.ts';
import { syncRequest } from './load/sync-workspace.ts';
import type { Bench, Row } from './row.ts';

const ROUNDS = Number(process.env['PLACARD_BENCH_ROUNDS'] ?? 3);
const SECONDS = Number(process.env['PLACARD_BENCH_SECONDS'] ?? 6);
const CONNECTIONS = 32;
const PAGES = 10_000;
const INTERVAL_SECONDS = 5;

const pumpFile = fileURLToPath(new URL('./load/sync-pump-process.ts', import.meta.url));

interface Measured {
  rate: number;
  p99: number;
  /** CPU of the service in milliseconds per request, warm-up included. */
  cpuMs: number;
}

const measure = async (
  server: { port: number; pid: number },
  release: string,
  rate: number,
): Promise<Measured> => {
  const before = await cpuSeconds(server.pid);
  const words = [server.port, PAGES, CONNECTIONS, SECONDS, 0, rate].map(String);
  const child = fork(pumpFile, [...words, release]);
  const [{ requests, seconds, statuses, p99 }] = (await once(child, 'message')) as [PumpResult];
  const cpu = (await cpuSeconds(server.pid)) - before;
  if (Object.keys(statuses).some((status) => status !== '200'))
    throw new Error(`responses other than 200: ${JSON.stringify(statuses)}`);
  // The pump warms up for half of the measured time, at the same rate.
  return { rate: requests / seconds, p99, cpuMs: (cpu * 1_000) / (requests * 1.5) };
};

const readRelease = async (port: number): Promise<string> => {
  const [, body = ''] = syncRequest(0).toString().split('\r\n\r\n');
  const response = await fetch(`http://127.0.0.1:${port}/v1/device-messaging/banners/sync`, {
    method: 'POST',
    headers: { Authorization: 'Bearer bench-client-key', 'Content-Type': 'application/json' },
    body,
  });
  return ((await response.json()) as { release: string }).release;
};

const run = async (): Promise<Row[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-bench-live-'));
  const all = {
    pages: [] as Measured[],
    released: [] as Measured[],
    checks: [] as Measured[],
    syncs: [] as Measured[],
  };
  try {
    const database = join(folder, 'bench.db');
    await fillWithUsers(database, PAGES);
    const { port, process: child, stop } = await startServer('./sync-service-process.ts', [database]);
    const server = { port, pid: child.pid! };
    const release = await readRelease(port);
    for (let round = 0; round < ROUNDS; round += 1) {
      all.pages.push(await measure(server, release, PAGES / INTERVAL_SECONDS));
      all.released.push(await measure(server, 'former', PAGES / INTERVAL_SECONDS));
      all.checks.push(await measure(server, release, 0));
      all.syncs.push(await measure(server, 'former', 0));
    }
    await stop();
  } finally {
    rmSync(folder, { recursive: true });
  }
  const rates = (runs: Measured[]) => runs.map(({ rate }) => rate);
  const of = (runs: Measured[], name: keyof Measured) => median(runs.map((each) => each[name]));
  const load = (what: string, runs: Measured[]): Row => ({
    what,
    figure: `p99 ${ms(of(runs, 'p99'))}, ${Math.round((of(runs, 'cpuMs') * of(runs, 'rate')) / 10)}% of a core`,
    spread: getSpread(rates(runs)),
  });
  return [
    load('10,000 open pages, a check every 5 s each', all.pages),
    load('the same in the 5 s after a release', all.released),
    {
      what: 'checks of one process; floor: banners/sync',
      figure: perSecond(of(all.checks, 'rate')),
      floor: perSecond(of(all.syncs, 'rate')),
      ratio: times(of(all.checks, 'rate') / of(all.syncs, 'rate')),
      spread: `${getSpread(rates(all.checks))} / ${getSpread(rates(all.syncs))}`,
    },
  ];
};

export const benches: Bench[] = [{ name: 'service-live-updates', run }];
