import { fork } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { resolveMapping } from '../columns.ts';
import type { JsonRow } from '../read-row.ts';
import type { Snapshot, SnapshotQuery } from '../snapshot.ts';
import { SourceError } from '../source-error.ts';
import type { MalformedRow, SourceRow } from '../source-row.ts';
import type { Staging } from './stage.ts';
import type { StageMessage } from './stage-process.ts';
import { createStagingFolder } from './staging-folder.ts';

/** Maximum heap of the staging process, in MB. */
const HEAP_MB = 512;

/** Returns the path of the process file, which is next to this file in the source and in `dist/` when built. */
const processPath = (): string => {
  const here = import.meta.url;
  const name = here.endsWith('.ts') ? './stage-process.ts' : './ingestion-files.js';
  return fileURLToPath(new URL(name, here));
};

/**
 * Stages in a child process, so that no file can crash or block the service. A thread is not enough, because it shares memory and
 * cannot be terminated while SQLite computes a row.
 */
const stageInProcess = (staging: Staging, signal: AbortSignal): Promise<StageMessage> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const child = fork(processPath(), [String(process.pid)], {
      execArgv: [`--max-old-space-size=${HEAP_MB}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const stop = () => void child.kill('SIGKILL');
    signal.addEventListener('abort', stop);
    let result: StageMessage | null = null;
    child.once('message', (message: StageMessage) => {
      result = message;
    });
    child.once('error', reject);
    child.once('exit', (code, killedBy) => {
      signal.removeEventListener('abort', stop);
      if (signal.aborted) reject(signal.reason);
      else if (result) resolve(result);
      else {
        reject(
          new SourceError(
            `the process that reads files ended (${killedBy ?? code}): a row or a page of a file may need more than ${HEAP_MB} MB of memory`,
          ),
        );
      }
    });
    child.send(staging);
  });

/** Maximum rows and bytes of a page. Short reads keep the service responsive. */
const PAGE = 500;
const PAGE_BYTES = 1_000_000;

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Copies rows of files into a SQLite file to read them in sorted order. */
export const openFiles = async (source: Staging['source'], query: SnapshotQuery): Promise<Snapshot> => {
  const { after, invalidKeys, malformedRejectIds, nowMs, signal } = query;
  const folder = await createStagingFolder();
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const database = join(folder, 'rows.db');
    const staging = { source, database, after, invalidKeys, malformedRejectIds, nowUs: nowMs * 1_000 };
    const staged = await stageInProcess(staging, signal);
    if ('problem' in staged) throw new SourceError(staged.problem);
    return createSnapshot(new DatabaseSync(database, { readOnly: true }), source, staged.columnNames, remove);
  } catch (error) {
    await remove();
    throw error;
  }
};

const toJsonRow = (content: unknown): JsonRow => JSON.parse(String(content));

const createSnapshot = (
  database: DatabaseSync,
  source: Staging['source'],
  columnNames: readonly (readonly string[])[],
  remove: () => Promise<void>,
): Snapshot => {
  const mappings = columnNames.map((each) => resolveMapping(source, each));

  /** Reads pages from the index. Rows with the same time and key are ordered by position. */
  async function* rows(isRetry: number): AsyncGenerator<SourceRow, void> {
    const page = database.prepare(
      `SELECT rowid, * FROM rows WHERE is_retry = ? AND (time_us, sort_key, rowid) > (?, ?, ?) ORDER BY time_us, sort_key, rowid LIMIT ${PAGE}`,
    );
    let last: [number, string, number] = [Number.MIN_SAFE_INTEGER, '', 0];
    for (;;) {
      const found: Record<string, SQLOutputValue>[] = [];
      let bytes = 0;
      for (const row of page.iterate(isRetry, ...last)) {
        found.push(row);
        bytes += String(row['content']).length;
        if (bytes >= PAGE_BYTES) break;
      }
      for (const row of found) {
        yield {
          timeUs: Number(row['time_us']),
          sortKey: String(row['sort_key']),
          key: String(row['key']),
          ...toJsonRow(row['content']),
          mapping: mappings[Number(row['mapping'])]!,
          rejectId: row['reject_id'] === null ? null : String(row['reject_id']),
        };
      }
      const end = found.at(-1);
      if (!end) return;
      last = [Number(end['time_us']), String(end['sort_key']), Number(end['rowid'])];
      await turn();
    }
  }

  return {
    message: null,
    rows: () => rows(0),
    retryRows: () => rows(1),
    async *malformed() {
      for (const { content } of database.prepare('SELECT content FROM malformed').iterate()) {
        const row: MalformedRow = JSON.parse(String(content));
        yield row;
      }
    },
    async close() {
      database.close();
      await remove();
    },
  };
};
