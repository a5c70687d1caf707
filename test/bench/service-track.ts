// POST /users/track: 75 mixed objects a request, durable, every rule; the load comes from the same machine.
//   PLACARD_BENCH_PROFILES=10000000   how many profiles the growth run stores (default 1,000,000)
//   PLACARD_BENCH_ROUNDS, PLACARD_BENCH_SECONDS   runs of each kind, and how long one counts (default 3 of 6 s)
//   PLACARD_BENCH_MINUTES=10          how long memory is watched (default half a minute)
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../helpers/postgres-server.ts';
import { median, ms, perSecond, spreadOf, times } from './load/figures.ts';
import { fillWithUsers } from './load/fill.ts';
import { load, type RunningServer, startServer } from './load/processes.ts';
import { BENCH_KEY } from './load/workspace.ts';
import type { Bench, Row } from './row.ts';

const ROUNDS = Number(process.env['PLACARD_BENCH_ROUNDS'] ?? 3);
const SECONDS = Number(process.env['PLACARD_BENCH_SECONDS'] ?? 6);
const WARM_UP_SECONDS = SECONDS / 2;
const CONNECTIONS = 32;
/** Users who are active in the small run; in a large one 90 % of the traffic is theirs, the rest is anybody's. */
const ACTIVE_USERS = 10_000;
const ACTIVE_SHARE = 0.9;

const PROFILES = Number(process.env['PLACARD_BENCH_PROFILES'] ?? 1_000_000);
const MINUTES = Number(process.env['PLACARD_BENCH_MINUTES'] ?? 0.5);

const order = (server: RunningServer, more: Record<string, number> = {}) => ({
  port: server.port,
  key: BENCH_KEY,
  connections: CONNECTIONS,
  seconds: SECONDS,
  warmUpSeconds: WARM_UP_SECONDS,
  users: ACTIVE_USERS,
  ...more,
});

/** Requests a second that were answered with 201; any other answer is an error of the bench. */
const rateOf = async (server: RunningServer, more: Record<string, number> = {}): Promise<number> => {
  const result = await load(order(server, more));
  const others = Object.keys(result.statuses).filter((status) => status !== '201');
  if (others.length > 0) throw new Error(`answers other than 201: ${JSON.stringify(result.statuses)}`);
  return result.requests / result.seconds;
};

const inFolder = async <T>(work: (folder: string) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-bench-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const service = (database: string) => startServer('./service-process.ts', [database]);

const besideTheFloor = (): Promise<Row[]> =>
  inFolder(async (folder) => {
    const floors: number[] = [];
    const ours: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const floor = await startServer('./floor-process.ts', [join(folder, `floor-${round}.db`)]);
      floors.push(await rateOf(floor));
      await floor.stop();
      const server = await service(join(folder, `ours-${round}.db`));
      // The users are made first: it is their coming back that is measured.
      await rateOf(server, { seconds: 2, warmUpSeconds: 0 });
      ours.push(await rateOf(server));
      await server.stop();
    }
    const ratio = median(ours) / median(floors);
    return [
      {
        what: 'users/track, SQLite, 75 objects',
        figure: perSecond(median(ours)),
        floor: perSecond(median(floors)),
        ratio: times(ratio),
        spread: `${spreadOf(ours)} / ${spreadOf(floors)}`,
        target: '≥ 3,000 req/s and ≥ 0.5 ×',
      },
    ];
  });

const growth = (): Promise<Row[]> =>
  inFolder(async (folder) => {
    const file = (count: number) => join(folder, `${count}.db`);
    for (const count of [ACTIVE_USERS, PROFILES]) await fillWithUsers(file(count), count);
    const rows: Row[] = [];
    const traffics = [
      { name: '90 % from 10,000 active users', hotShare: ACTIVE_SHARE, target: '≥ 0.8 ×' },
      { name: 'from anybody, at random', hotShare: 0, target: '' },
    ];
    for (const { name, hotShare, target } of traffics) {
      const small: number[] = [];
      const large: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const [count, rates] of [
          [ACTIVE_USERS, small],
          [PROFILES, large],
        ] as const) {
          const server = await service(file(count));
          rates.push(await rateOf(server, { users: count, hotUsers: ACTIVE_USERS, hotShare }));
          await server.stop();
        }
      }
      rows.push({
        what: `${PROFILES.toLocaleString('en')} profiles stored, ${name}`,
        figure: perSecond(median(large)),
        floor: `${perSecond(median(small))} at 10,000`,
        ratio: times(median(large) / median(small)),
        spread: `${spreadOf(large)} / ${spreadOf(small)}`,
        target,
      });
    }
    return rows;
  });

const postgres = async (): Promise<Row[]> => {
  // As it ships, but for memory: every commit is on the disk.
  const server = await startPostgres(['-c', 'shared_buffers=1GB', '-c', 'max_wal_size=8GB']);
  try {
    const rates: Record<1 | 2, number[]> = { 1: [], 2: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      const url = await server.createDatabase();
      for (const count of [1, 2] as const) {
        const replicas = await Promise.all(Array.from({ length: count }, () => service(url)));
        const both = (seconds: number, warmUpSeconds: number) =>
          Promise.all(
            replicas.map((replica) =>
              rateOf(replica, { seconds, warmUpSeconds, connections: CONNECTIONS / count }),
            ),
          );
        if (count === 1) await both(4, 0);
        rates[count].push((await both(SECONDS, WARM_UP_SECONDS)).reduce((sum, rate) => sum + rate, 0));
        await Promise.all(replicas.map((replica) => replica.stop()));
      }
    }
    return [
      {
        what: 'users/track, PostgreSQL, one replica',
        figure: perSecond(median(rates[1])),
        spread: spreadOf(rates[1]),
        target: '≥ 1,000 req/s',
      },
      {
        what: 'users/track, PostgreSQL, two replicas',
        figure: perSecond(median(rates[2])),
        floor: `${perSecond(median(rates[1]))} on one`,
        ratio: times(median(rates[2]) / median(rates[1])),
        spread: spreadOf(rates[2]),
        target: '≥ 1 ×',
      },
    ];
  } finally {
    await server.stop();
  }
};

/** Requests a second of those whose waiting is watched: a tenth of what the service can do. */
const WATCHED_RATE = 200;

const nuisances: { name: string; begin(server: RunningServer, file: string): () => Promise<void> | void }[] =
  [
    {
      name: 'fifty clients that send a byte a second',
      begin: (server) => {
        const sockets = Array.from({ length: 50 }, () => connect({ port: server.port, host: '127.0.0.1' }));
        for (const socket of sockets) {
          socket.on('error', () => undefined);
          socket.write(`POST /users/track HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${BENCH_KEY}\r\n`);
        }
        const timer = setInterval(() => {
          for (const socket of sockets) socket.write('x');
        }, 1_000);
        return () => {
          clearInterval(timer);
          for (const socket of sockets) socket.destroy();
        };
      },
    },
    {
      name: 'bodies of 4 MB, one after the other',
      begin: (server) => {
        let isOver = false;
        const text = 'x'.repeat(200);
        const attributes = Array.from({ length: 40 }, (_, i) => ({
          external_id: `big-${i}`,
          list: Array.from({ length: 400 }, (_, j) => `${j}${text}`),
        }));
        const body = JSON.stringify({ attributes });
        const sending = (async () => {
          while (!isOver) {
            const response = await fetch(`http://127.0.0.1:${server.port}/users/track`, {
              method: 'POST',
              headers: { Authorization: `Bearer ${BENCH_KEY}`, 'Content-Type': 'application/json' },
              body,
            });
            await response.arrayBuffer();
          }
        })();
        return async () => {
          isOver = true;
          await sending;
        };
      },
    },
    {
      name: 'an export of every user, again and again',
      begin: (_server, file) => {
        let child = startExport(file);
        let isOver = false;
        const again = () => {
          if (isOver) return;
          child = startExport(file);
          child.then(({ process }) => process.once('exit', again));
        };
        child.then(({ process }) => process.once('exit', again));
        return async () => {
          isOver = true;
          const { process } = await child;
          if (process.exitCode !== null) return;
          process.kill('SIGTERM');
          await once(process, 'exit');
        };
      },
    },
  ];

const startExport = (file: string) => startServer('./export-process.ts', [file]);

const fairness = (): Promise<Row[]> =>
  inFolder(async (folder) => {
    const file = join(folder, 'fair.db');
    await fillWithUsers(file, 200_000);
    const server = await service(file);
    const watch = async () => {
      const { p99 } = await load(order(server, { rate: WATCHED_RATE, connections: 8, warmUpSeconds: 2 }));
      return p99;
    };
    await watch();
    const rows: Row[] = [];
    for (const { name, begin } of nuisances) {
      const alone: number[] = [];
      const beside: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        alone.push(await watch());
        const end = begin(server, file);
        beside.push(await watch());
        await end();
      }
      rows.push({
        what: `p99 of others beside ${name}`,
        figure: ms(median(beside)),
        floor: `${ms(median(alone))} alone`,
        ratio: times(median(beside) / median(alone)),
        spread: `${spreadOf(beside)} / ${spreadOf(alone)} ms`,
        target: '≤ 3 ×',
      });
    }
    await server.stop();
    return rows;
  });

const memory = (): Promise<Row[]> =>
  inFolder(async (folder) => {
    const server = await service(join(folder, 'memory.db'));
    const rss = async () => {
      server.process.send('memory');
      const [answer] = (await once(server.process, 'message')) as [{ rss: number }];
      return answer.rss / 2 ** 20;
    };
    const samples: number[] = [];
    const slices = 10;
    for (let slice = 0; slice < slices; slice += 1) {
      await rateOf(server, { seconds: (MINUTES * 60) / slices, warmUpSeconds: 0 });
      samples.push(await rss());
    }
    await server.stop();
    const early = median(samples.slice(2, 5));
    const late = median(samples.slice(-3));
    return [
      {
        what: `memory after ${MINUTES} minutes at full load`,
        figure: `${Math.round(late)} MiB`,
        floor: `${Math.round(early)} MiB after a third of it`,
        ratio: times(late / early),
        spread: `${spreadOf(samples)} MiB`,
        target: 'flat',
      },
    ];
  });

export const benches: Bench[] = [
  { name: 'service-track', run: besideTheFloor },
  { name: 'service-growth', run: growth },
  { name: 'service-postgres', run: postgres },
  { name: 'service-fairness', run: fairness },
  { name: 'service-memory', run: memory },
];
