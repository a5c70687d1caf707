// Results on SQLite: those of a campaign with a million exposed users, the rollup of a million banner events, and the latency of
// `banners/sync` in the meantime. CPU times are converted to the reference speed.
//   PLACARD_BENCH_ROUNDS, PLACARD_BENCH_SECONDS   runs of each kind and their duration (default 3 of 6 s)
//   PLACARD_BENCH_USERS                           exposed users and banner events (default 1,000,000)
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { readLastIds, SQLITE_RESULTS } from '../../src/service/results/statements.ts';
import { createSendSqlite } from '../../src/service/store/sqlite/open.ts';
import { BATCHES_PER_CHECKPOINT } from '../../src/service/store/sqlite/parts.ts';
import { createWriter, setForWriting } from '../../src/service/store/sqlite/writer.ts';
import { getSpread, median, ms, times } from './load/figures.ts';
import { fillWithFeed } from './load/fill-feed.ts';
import { fillWithResults } from './load/fill-results.ts';
import { startServer } from './load/processes.ts';
import type { PumpResult } from './load/pump.ts';
import { getThreadCpuMs, measureReferenceWork, toReferenceSpeed } from './load/reference-speed.ts';
import { inFolder, ROUNDS, SECONDS } from './load/track-rate.ts';
import type { Bench, Row } from './row.ts';

const USERS = Number(process.env['PLACARD_BENCH_USERS'] ?? 1_000_000);
/** Syncs per second whose latency is measured: a tenth of the capacity. */
const RATE = 200;
const CONNECTIONS = 8;

const pumpFile = fileURLToPath(new URL('./load/sync-pump-process.ts', import.meta.url));

/** Returns the p99 latency of syncs in milliseconds. */
const watch = async (port: number, users = USERS): Promise<number> => {
  const child = fork(pumpFile, [port, Math.min(users, 100_000), CONNECTIONS, SECONDS, 0, RATE].map(String));
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

const readResults = (): Promise<Row[]> =>
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

/**
 * Rolls up all banner events of a file. Returns the CPU times of the batches, and of the checkpoints, which run on another thread
 * in the service, in milliseconds.
 */
const rollUp = async (file: string): Promise<{ batches: number[]; checkpoints: number[] }> => {
  const database = new DatabaseSync(file);
  setForWriting(database);
  const writer = createWriter(database);
  const ofCheckpoints = new DatabaseSync(file);
  const through = await readLastIds(SQLITE_RESULTS, createSendSqlite(database));
  const batches: number[] = [];
  const checkpoints: number[] = [];
  const references: number[] = [];
  for (let hasMore = true; hasMore; ) {
    if (batches.length % 100 === 0) references.push(measureReferenceWork());
    const started = getThreadCpuMs();
    ({ hasMore } = writer.advanceResults(through));
    batches.push(getThreadCpuMs() - started);
    if (batches.length % BATCHES_PER_CHECKPOINT !== 0) continue;
    const checkpointStarted = getThreadCpuMs();
    ofCheckpoints.exec('PRAGMA wal_checkpoint');
    checkpoints.push(getThreadCpuMs() - checkpointStarted);
  }
  ofCheckpoints.close();
  database.close();
  const atReferenceSpeed = (times: number[]) => times.map((each) => toReferenceSpeed(each, references));
  return { batches: atReferenceSpeed(batches), checkpoints: atReferenceSpeed(checkpoints) };
};

const countUnread = (file: string): number => {
  const database = new DatabaseSync(file, { readOnly: true });
  const row = database
    .prepare(
      `SELECT (SELECT max(banner_event_id) FROM banner_events)
         - coalesce((SELECT banner_events FROM feed_cursors WHERE consumer = 'results'), 0) AS unread`,
    )
    .get();
  database.close();
  return Number(row?.['unread']);
};

/** Alternates between a service that rolls up and one that has nothing to roll up. */
const rollUpBesideSyncs = (): Promise<Row[]> =>
  inFolder(async (folder) => {
    const [unread, read] = ['unread', 'read'].map((name) => join(folder, `${name}.db`)) as [string, string];
    const users = Math.ceil(USERS * 0.3);
    await fillWithFeed(unread, users, USERS);
    copyFileSync(unread, read);
    const { batches, checkpoints } = await rollUp(read);
    const seconds = (times: number[]) => (times.reduce((sum, each) => sum + each, 0) / 1000).toFixed(1);
    const watchAlone = async (file: string) => {
      const { port, stop } = await startServer('./sync-service-process.ts', [file]);
      const p99 = await watch(port, users);
      await stop();
      return p99;
    };
    const alone: number[] = [];
    const beside: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      alone.push(await watchAlone(read));
      beside.push(await watchAlone(unread));
      if (countUnread(unread) === 0) throw new Error('The rollup ended before the syncs');
    }
    const count = USERS.toLocaleString('en');
    return [
      {
        what: `rollup of ${count} banner events of ${users.toLocaleString('en')} users, CPU of the writer thread, SQLite`,
        figure: `${seconds(batches)} s`,
        floor: `${seconds(checkpoints)} s of checkpoints on another thread`,
        target: '≤ 30 s',
      },
      {
        what: 'its longest batch',
        figure: ms(Math.max(...batches)),
        floor: `${ms(median(batches))} median`,
        target: '≤ 50 ms',
      },
      {
        what: `p99 of ${RATE} syncs a second beside it`,
        figure: ms(median(beside)),
        floor: `${ms(median(alone))} alone`,
        ratio: times(median(beside) / median(alone)),
        spread: `${getSpread(beside)} / ${getSpread(alone)} ms`,
        target: '≤ 2 ×',
      },
    ];
  });

export const benches: Bench[] = [
  { name: 'service-results', run: readResults },
  { name: 'service-results-rollup', run: rollUpBesideSyncs },
];
