// POST /users/track by number of stored profiles.
//   PLACARD_BENCH_PROFILES=10000000   profiles in the large file (default 1,000,000)
import { join } from 'node:path';
import { getSpread, median, perSecond, times } from './load/figures.ts';
import { fillWithUsers } from './load/fill.ts';
import { ACTIVE_USERS, getRate, inFolder, ROUNDS, service } from './load/track-rate.ts';
import type { Bench, Row } from './row.ts';

const PROFILES = Number(process.env['PLACARD_BENCH_PROFILES'] ?? 1_000_000);

const growth = (): Promise<Row[]> =>
  inFolder(async (folder) => {
    const file = (count: number) => join(folder, `${count}.db`);
    for (const count of [ACTIVE_USERS, PROFILES]) await fillWithUsers(file(count), count);
    const rows: Row[] = [];
    const traffics = [
      { name: 'the same traffic of 10,000 users', hotShare: 1, target: '≥ 0.7 ×' },
      { name: '10 % of it from anybody', hotShare: 0.9, target: '' },
      { name: 'all of it from anybody', hotShare: 0, target: '' },
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
          rates.push(await getRate(server, { users: count, hotUsers: ACTIVE_USERS, hotShare }));
          await server.stop();
        }
      }
      rows.push({
        what: `${PROFILES.toLocaleString('en')} profiles stored, ${name}`,
        figure: perSecond(median(large)),
        floor: `${perSecond(median(small))} at 10,000`,
        ratio: times(median(large) / median(small)),
        spread: `${getSpread(large)} / ${getSpread(small)}`,
        target,
      });
    }
    return rows;
  });

export const benches: Bench[] = [{ name: 'service-growth', run: growth }];
