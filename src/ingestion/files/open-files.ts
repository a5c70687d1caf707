import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { columnsOf } from '../columns.ts';
import type { JsonRow } from '../read-row.ts';
import type { Question, Snapshot } from '../source.ts';
import { SourceError } from '../source-error.ts';
import type { SourceRow, UnusableRow } from '../source-row.ts';
import type { Staging } from './stage.ts';

/** The file of the thread. Run from source it sits beside this file; built, both are files of `dist/`. */
const threadUrl = (): URL => {
  const here = import.meta.url;
  return new URL(here.endsWith('.ts') ? './stage-thread.ts' : './ingestion-files.js', here);
};

const stageOnThread = (workerData: Staging, signal: AbortSignal): Promise<string[][]> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const thread = new Worker(threadUrl(), { workerData });
    const stop = () => void thread.terminate();
    signal.addEventListener('abort', stop);
    thread.once('message', (answer: { names: string[][] } | { problem: string }) => {
      if ('names' in answer) resolve(answer.names);
      else reject(new SourceError(answer.problem));
    });
    thread.once('error', reject);
    thread.once('exit', () => {
      signal.removeEventListener('abort', stop);
      reject(signal.reason ?? new Error('The thread that reads files has ended'));
    });
  });

/** Rows that are read at once: a page is one short read, between requests. */
const PAGE = 500;

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Reads files on a thread, into a SQLite file that gives the rows in their order. */
export const openFiles = async (source: Staging['source'], question: Question): Promise<Snapshot> => {
  const { after, keys, lines, nowMs, signal } = question;
  const folder = await mkdtemp(join(tmpdir(), 'placard-ingestion-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const database = join(folder, 'rows.db');
    const names = await stageOnThread({ source, database, after, keys, lines, nowUs: nowMs * 1_000 }, signal);
    return snapshotOf(new DatabaseSync(database, { readOnly: true }), source, names, remove);
  } catch (error) {
    await remove();
    throw error;
  }
};

const snapshotOf = (
  database: DatabaseSync,
  source: Staging['source'],
  names: string[][],
  remove: () => Promise<void>,
): Snapshot => {
  const plans = names.map((each) => columnsOf(source, each));

  /** The index gives pages in order; a row that has the same time and key as another one is told apart by its place. */
  async function* rows(isAgain: number): AsyncGenerator<SourceRow, void> {
    const page = database.prepare(
      `SELECT rowid, * FROM rows WHERE is_again = ? AND (us, sort_key, rowid) > (?, ?, ?) ORDER BY us, sort_key, rowid LIMIT ${PAGE}`,
    );
    let last: [number, string, number] = [Number.MIN_SAFE_INTEGER, '', 0];
    for (;;) {
      const found = page.all(isAgain, ...last);
      for (const row of found) {
        yield {
          us: row['us'] as number,
          order: row['sort_key'] as string,
          key: row['key'] as string,
          ...(JSON.parse(row['content'] as string) as JsonRow),
          columns: plans[row['names'] as number]!,
          rejectId: row['reject_id'] as string | null,
        };
      }
      const end = found.at(-1);
      if (!end) return;
      last = [end['us'] as number, end['sort_key'] as string, end['rowid'] as number];
      await turn();
    }
  }

  return {
    note: null,
    rows: () => rows(0),
    rowsAgain: () => rows(1),
    async *unusable() {
      for (const { content } of database.prepare('SELECT content FROM unusable').iterate()) {
        yield JSON.parse(content as string) as UnusableRow;
      }
    },
    async close() {
      database.close();
      await remove();
    },
  };
};
