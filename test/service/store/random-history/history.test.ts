import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { isTooLow, openStore } from '../../../../src/service/store/index.ts';
import { aDatabase, runBeside } from '../../../helpers/postgres.ts';
import { times } from '../../../helpers/property.ts';
import { batchAt, EVENTS_PER_BATCH, WORKSPACE } from './history.ts';
import { type Cells, createModel } from './model.ts';

const EVENTS = times(2_500);
const BATCHES = EVENTS / EVENTS_PER_BATCH;
const SEED = Number(process.env['PLACARD_SEED'] ?? 1);
/** On average. Most of the time of a kill is the next start. */
const BATCHES_PER_KILL = Math.max(20, BATCHES / 20);

type Ask = (sql: string) => Promise<Record<string, unknown>[]>;

const CELLS = `SELECT campaign_id || ' ' || variant_id || ' ' || dimension AS name,
    impressions, exposed_users, clicks, clicked_users, dismissals, dismissed_users FROM campaign_counts`;
const GOAL_CELLS = `SELECT campaign_id || ' ' || variant_id || ' ' || goal || ' ' || day || ' ' || currencies AS name,
    converted_users, revenue, revenue_sum_of_squares FROM goal_counts`;

const readCells = async (ask: Ask): Promise<Cells> => {
  const rows = [...(await ask(CELLS)), ...(await ask(GOAL_CELLS))];
  return Object.fromEntries(
    rows
      .map(({ name, ...counts }): [string, number[]] => [String(name), Object.values(counts).map(Number)])
      .filter(([, counts]) => counts.some((count) => count !== 0)),
  );
};

const STORES: [string, () => Promise<{ address: string; ask: Ask }>][] = [
  [
    'SQLite',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'placard-history-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const address = join(folder, 'a.db');
      const ask: Ask = async (sql) => {
        const database = new DatabaseSync(address, { readOnly: true });
        const rows = database.prepare(sql).all();
        database.close();
        return rows;
      };
      return { address, ask };
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const address = await aDatabase();
      const run = runBeside(address);
      return { address, ask: (sql) => run(sql) };
    },
  ],
];

/** Runs the process until it is done, and kills it at random batches. Returns the number of kills. */
const play = async (address: string): Promise<number> => {
  const path = fileURLToPath(new URL('./process.ts', import.meta.url));
  for (let kills = 0; ; ) {
    const child = spawn(process.execPath, [path, address, String(SEED), String(BATCHES)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    let left = 1 + Math.floor(Math.random() * 2 * BATCHES_PER_KILL);
    for await (const _ of createInterface(child.stdout)) {
      left -= 1;
      if (left === 0) child.kill('SIGKILL');
    }
    const [code, signal] = await exited;
    if (code === 0) return kills;
    expect(signal, `exit code ${code}`).toBe('SIGKILL');
    kills += 1;
  }
};

test.each(STORES)(
  `results equal a recount after ${EVENTS} random events with merges, erasures, retention and kills, on %s`,
  async (_, open) => {
    const { address, ask } = await open();
    const kills = await play(address);
    const model = createModel();
    for (let number = 1; number <= BATCHES; number += 1) model.apply(batchAt(SEED, number, BATCHES));
    const expected = model.cells();
    const stored = await readCells(ask);
    const rounded = (cells: Cells) =>
      Object.fromEntries(
        Object.entries(cells).map(([name, values]) => [
          name,
          values.map((each) => Math.round(each * 1e4) / 1e4),
        ]),
      );
    const store = await openStore(address);
    const low = (await store.verifyResults(WORKSPACE)).filter(isTooLow);
    await store.close();
    expect(rounded(stored)).toEqual(rounded(expected));
    expect(low).toEqual([]);
    console.log(`${EVENTS} events, ${kills} kills: ${Object.keys(expected).length} cells are equal`);
  },
  times(240_000),
);
