import { rm } from 'node:fs/promises';
import { BUNDLERS, type BundlerName, measureBundle } from '../helpers/bundlers.ts';
import { anApplication } from '../helpers/packed-package.ts';
import { AIMS, BROWSER_PACKAGE_ENTRIES } from '../helpers/size-budgets.ts';
import { measureExecutedShare } from './browser/executed-share.ts';
import { bytes, times } from './browser/figures.ts';
import { getTitle, installPeers, PEERS_FOLDER, SUBJECTS } from './browser/subjects.ts';
import type { Bench, Row } from './row.ts';

/** The packed package in each bundler; peers are compared with Vite's. */
const ownRows = async (): Promise<{ rows: Row[]; all: number }> => {
  const folder = await anApplication();
  try {
    const rows: Row[] = [];
    let all = 0;
    for (const bundler of Object.keys(BUNDLERS) as BundlerName[]) {
      const size = await measureBundle(BROWSER_PACKAGE_ENTRIES['.'], folder, bundler);
      if (bundler === 'vite') all = size.all;
      rows.push({
        what: `Placard in ${bundler}, before the first cached paint`,
        figure: bytes(size.entry),
        target: `≤ ${bytes(AIMS.firstPaint[bundler])}`,
      });
      rows.push({
        what: `Placard in ${bundler}, all chunks`,
        figure: bytes(size.all),
        target: `≤ ${bytes(AIMS.allChunks)}`,
      });
      rows.push({
        what: `Placard in ${bundler}, typical visit`,
        figure: bytes(size.ordinary),
        target: `≤ ${bytes(AIMS.ordinaryVisit)}`,
      });
    }
    return { rows, all };
  } finally {
    await rm(folder, { recursive: true });
  }
};

/** Bytes that an application ships. */
const sizes: Bench = {
  name: 'client-size',
  async run() {
    await installPeers();
    const { rows, all: ours } = await ownRows();
    const executed = await measureExecutedShare();
    rows.push({
      what: 'Placard, executed share of what two typical visits load',
      figure: `${(100 * executed).toFixed(1)}%`,
      target: '≥ 80%',
    });
    for (const subject of SUBJECTS) {
      if (!subject.npm) continue;
      const { all } = await measureBundle(subject.code, PEERS_FOLDER);
      rows.push({
        what: `${await getTitle(subject)}, all chunks`,
        figure: bytes(all),
        ratio: `${times(all / ours)} ours`,
      });
    }
    return rows;
  },
};

export const benches: Bench[] = [sizes];
