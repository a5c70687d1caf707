// POST /users/track on a sharded PostgreSQL with one worker and with two, beside the same PostgreSQL without the extension.
// All nodes share this machine's cores, so it compares the CPU time of 1,000 objects by process.
//   PLACARD_BENCH_SECONDS   duration of a run (default 6)
import { Client } from 'pg';
import { type CitusCluster, installedCitus, startCitus } from '../helpers/citus.ts';
import { cpuSeconds } from './load/cpu-seconds.ts';
import { ms, perSecond } from './load/figures.ts';
import { load } from './load/processes.ts';
import { getRate, OBJECTS, order, service } from './load/track-rate.ts';
import type { Bench, Row } from './row.ts';

/** Default durability. `citus` must be the first preloaded library. */
const SETTINGS = `
shared_preload_libraries = 'citus, pg_stat_statements'
fsync = on
shared_buffers = 256MB
max_wal_size = 4GB
`;

/** Creates a database without the extension. */
const aPlainDatabase = async (cluster: CitusCluster): Promise<string> => {
  await cluster.run('CREATE DATABASE plain');
  return cluster.url.replace(/\/\w+$/, '/plain');
};

const countStatements = async (database: string): Promise<number> => {
  const client = new Client({ connectionString: database });
  await client.connect();
  try {
    const { rows } = await client.query('SELECT sum(calls)::int AS calls FROM pg_stat_statements');
    return rows[0].calls;
  } finally {
    await client.end();
  }
};

const enableCounting = async (database: string) => {
  const client = new Client({ connectionString: database });
  await client.connect();
  await client.query('CREATE EXTENSION pg_stat_statements');
  await client.end();
};

const measure = async (bin: string, workers: number): Promise<Row[]> => {
  const cluster = await startCitus(bin, { workers, settings: SETTINGS });
  try {
    const database = workers === 0 ? await aPlainDatabase(cluster) : cluster.url;
    await enableCounting(database);
    const server = await service(database);
    // Creates the users first, because only updates are measured.
    await getRate(server, { warmUpSeconds: 0 });
    const processes = [
      { name: 'service', pid: server.process.pid! },
      { name: workers === 0 ? 'PostgreSQL' : 'coordinator', pid: cluster.getPid(0) },
      ...Array.from({ length: workers }, (_, i) => ({ name: `worker ${i + 1}`, pid: cluster.getPid(i + 1) })),
    ];
    const times = () => Promise.all(processes.map(({ pid }) => cpuSeconds(pid)));
    const [before, calls] = [await times(), await countStatements(database)];
    const result = await load(order(server, { warmUpSeconds: 0 }));
    const [after, callsAfter] = [await times(), await countStatements(database)];
    await server.stop();
    const { requests, seconds, statuses, p50, p99 } = result;
    if (statuses['201'] !== requests)
      throw new Error(`responses other than 201: ${JSON.stringify(statuses)}`);
    const thousands = (requests * OBJECTS) / 1_000;
    const cpu = processes.map(
      ({ name }, i) => `${name} ${((after[i]! - before[i]!) / thousands).toFixed(3)}`,
    );
    const where = ['plain PostgreSQL', 'Citus, one worker', 'Citus, two workers'][workers];
    return [
      {
        what: `users/track, ${where}`,
        figure: perSecond(requests / seconds, OBJECTS),
        target: workers ? '≥ 20,000 objects/s' : '',
      },
      { what: 'its p50 and p99', figure: `${ms(p50)}, ${ms(p99)}` },
      { what: 'statements a request', figure: ((callsAfter - calls) / requests).toFixed(2) },
      { what: 'CPU seconds a thousand objects', figure: cpu.join(', ') },
    ];
  } finally {
    await cluster.stop();
  }
};

const citus = async (): Promise<Row[]> => {
  const bin = installedCitus();
  if (bin === null)
    return [{ what: 'users/track, Citus', figure: 'not measured: this machine has no Citus' }];
  const rows: Row[] = [];
  for (const workers of [0, 1, 2]) rows.push(...(await measure(bin, workers)));
  return rows;
};

export const benches: Bench[] = [{ name: 'service-citus', run: citus }];
