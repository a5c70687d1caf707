// POST /users/track with 75 mixed objects per request, durable, all rules. Floor: a bare server. Load from the same machine.
//   PLACARD_BENCH_ROUNDS, PLACARD_BENCH_SECONDS   runs of each kind and their duration (default 3 of 6 s)
import { join } from 'node:path';
import { getSpread, median, perSecond, times } from './load/figures.ts';
import { startServer } from './load/processes.ts';
import { getRate, inFolder, OBJECTS, ROUNDS, service } from './load/track-rate.ts';
import type { Bench, Row } from './row.ts';

const besideTheFloor = (): Promise<Row[]> =>
  inFolder(async (folder) => {
    const floors: number[] = [];
    const ours: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const floor = await startServer('./floor-process.ts', [join(folder, `floor-${round}.db`)]);
      floors.push(await getRate(floor));
      await floor.stop();
      const server = await service(join(folder, `ours-${round}.db`));
      // Creates the users first, because only updates are measured.
      await getRate(server, { seconds: 2, warmUpSeconds: 0 });
      ours.push(await getRate(server));
      await server.stop();
    }
    const ratio = median(ours) / median(floors);
    return [
      {
        what: 'users/track, SQLite, 75 objects',
        figure: perSecond(median(ours), OBJECTS),
        floor: perSecond(median(floors)),
        ratio: times(ratio),
        spread: `${getSpread(ours)} / ${getSpread(floors)}`,
        target: '≥ 80,000 objects/s',
      },
    ];
  });

export const benches: Bench[] = [{ name: 'service-track', run: besideTheFloor }];
