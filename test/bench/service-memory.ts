// Memory of the service at full load over time.
//   PLACARD_BENCH_MINUTES=10          duration (default 0.5)
import { once } from 'node:events';
import { join } from 'node:path';
import { getSpread, median, times } from './load/figures.ts';
import { getRate, inFolder, service } from './load/track-rate.ts';
import type { Bench, Row } from './row.ts';

const MINUTES = Number(process.env['PLACARD_BENCH_MINUTES'] ?? 0.5);

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
      await getRate(server, { seconds: (MINUTES * 60) / slices, warmUpSeconds: 0 });
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
        spread: `${getSpread(samples)} MiB`,
        target: 'flat',
      },
    ];
  });

export const benches: Bench[] = [{ name: 'service-memory', run: memory }];
