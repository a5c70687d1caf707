import { measureBundle } from '../helpers/bundle-size.ts';
import { bytes, times } from './browser/figures.ts';
import { installPeers, PEERS_FOLDER, SUBJECTS, titleOf } from './browser/subjects.ts';
import type { Bench, Row } from './row.ts';

/** What an application ships to its visitors, bundled by the same bundler with the same settings. */
const sizes: Bench = {
  name: 'client-size',
  async run() {
    await installPeers();
    const rows: Row[] = [];
    let ours = 0;
    for (const subject of SUBJECTS) {
      const { entry, all } = await measureBundle(subject.code, subject.npm ? PEERS_FOLDER : undefined);
      if (!subject.npm) {
        ours = all;
        rows.push({
          what: 'Placard, before the first cached paint',
          figure: bytes(entry),
          target: '≤ 6,144 B',
        });
      }
      rows.push({
        what: `${await titleOf(subject)}, all chunks`,
        figure: bytes(all),
        ...(subject.npm ? { ratio: `${times(all / ours)} ours` } : { target: '≤ 20,480 B' }),
      });
    }
    return rows;
  },
};

export const benches: Bench[] = [sizes];
