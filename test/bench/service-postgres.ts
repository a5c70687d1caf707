// POST /users/track on PostgreSQL, on one replica and on two on the same cores.
import { startPostgres } from '../helpers/postgres-server.ts';
import { getSpread, median, perSecond, times } from './load/figures.ts';
import {
  CONNECTIONS,
  getRate,
  OBJECTS,
  ROUNDS,
  SECONDS,
  service,
  WARM_UP_SECONDS,
} from './load/track-rate.ts';
import type { Bench, Row } from './row.ts';

const postgres = async (): Promise<Row[]> => {
  // Defaults except for memory; every commit is synced.
  const server = await startPostgres(['-c', 'shared_buffers=1GB', '-c', 'max_wal_size=8GB']);
  try {
    const rates: Record<1 | 2, number[]> = { 1: [], 2: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const count of [1, 2] as const) {
        // Each starts with a new database.
        const url = await server.createDatabase();
        const replicas = await Promise.all(Array.from({ length: count }, () => service(url)));
        const both = (seconds: number, warmUpSeconds: number) =>
          Promise.all(
            replicas.map((replica) =>
              getRate(replica, { seconds, warmUpSeconds, connections: CONNECTIONS / count }),
            ),
          );
        // Creates the users first, and each replica reads those that others created.
        await both(WARM_UP_SECONDS * 3, 0);
        rates[count].push((await both(SECONDS, WARM_UP_SECONDS)).reduce((sum, rate) => sum + rate, 0));
        await Promise.all(replicas.map((replica) => replica.stop()));
      }
    }
    return [
      {
        what: 'users/track, PostgreSQL, one replica',
        figure: perSecond(median(rates[1]), OBJECTS),
        spread: getSpread(rates[1]),
        target: '≥ 45,000 objects/s',
      },
      {
        what: 'users/track, PostgreSQL, two replicas',
        figure: perSecond(median(rates[2]), OBJECTS),
        floor: `${perSecond(median(rates[1]))} on one`,
        ratio: times(median(rates[2]) / median(rates[1])),
        spread: getSpread(rates[2]),
        target: '≥ 1 ×',
      },
    ];
  } finally {
    await server.stop();
  }
};

export const benches: Bench[] = [{ name: 'service-postgres', run: postgres }];
