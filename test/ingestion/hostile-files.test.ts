import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startIngestion } from '../../src/ingestion/index.ts';
import { silentLog } from '../../src/service/index.ts';
import { getProgram } from '../helpers/built-programs.ts';
import { patience } from '../helpers/patience.ts';
import { getDescendants, hasEnded } from '../helpers/process-tree.ts';
import { aFolder, aStore, exported, getRejects, getState, ID, ingest, W, workspaceWith } from './ingest.ts';

const T = '2026-03-01T10:00:00Z';
const CSV = {
  kind: 'csv',
  files: 'exports/*.csv',
  rows: 'attributes',
  columns: { PLAN: 'plan' },
};
const HEADER = 'EXTERNAL_ID,UPDATED_AT,PLAN,NOTES\n';

const exportsIn = (folder: string): string => {
  mkdirSync(join(folder, 'exports'));
  return join(folder, 'exports');
};

/** Folders with copied rows. */
const stagingFolders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('placard-ingestion-'));
const ownStaging = () => stagingFolders().filter((name) => name.includes(`-${process.pid}-`));

describe('the files of a source', () => {
  test('are those that a shell pattern matches, without dotfiles', async () => {
    const store = await aStore();
    const folder = aFolder();
    const files = exportsIn(folder);
    writeFileSync(join(files, 'a.csv'), `${HEADER}kim,${T},gold,\n`);
    writeFileSync(join(files, '.b.csv'), `${HEADER}lee,${T},go`);
    writeFileSync(join(files, '._a.csv'), Buffer.from([0, 5, 22, 7, 0]));
    expect(await ingest(store, CSV, folder)).toMatchObject({ status: 'success', rowsSynced: 1 });
  });

  test('do not include pipes, which have no end', async () => {
    const store = await aStore();
    const folder = aFolder();
    execFileSync('mkfifo', [join(exportsIn(folder), 'a.csv')]);
    expect(await ingest(store, CSV, folder)).toMatchObject({
      status: 'error',
      message: 'File a.csv is not a regular file',
    });
  });

  test('do not include links to files outside the folder', async () => {
    const store = await aStore();
    const folder = aFolder();
    const files = exportsIn(folder);
    writeFileSync(join(folder, 'secret'), 'root:x:0:0\n');
    symlinkSync(join(folder, 'secret'), join(files, 'a.csv'));
    expect(await ingest(store, CSV, folder)).toMatchObject({
      status: 'error',
      message: 'File a.csv is a link to a file outside its folder',
    });
  });

  test('may be links within their folder, as in a mounted volume', async () => {
    const store = await aStore();
    const folder = aFolder();
    const files = exportsIn(folder);
    mkdirSync(join(files, '..data'));
    writeFileSync(join(files, '..data', 'a.csv'), `${HEADER}kim,${T},gold,\n`);
    symlinkSync(join('..data', 'a.csv'), join(files, 'a.csv'));
    expect(await ingest(store, CSV, folder)).toMatchObject({ status: 'success', rowsSynced: 1 });
  });
});

describe('a large row', () => {
  test('ignores the size of columns that the source does not use', async () => {
    const store = await aStore();
    const folder = aFolder();
    const notes = 'x'.repeat(3_000_000);
    const rows = Array.from({ length: 20 }, (_, at) => `u-${at},${T},gold,${notes}\n`);
    writeFileSync(join(exportsIn(folder), 'a.csv'), HEADER + rows.join(''));
    expect(await ingest(store, CSV, folder)).toMatchObject({ status: 'success', rowsSynced: 20 });
  });

  test('is rejected above one million characters, and the reject has its beginning', async () => {
    const store = await aStore();
    const folder = aFolder();
    const long = 'x'.repeat(1_000_001);
    writeFileSync(join(exportsIn(folder), 'a.csv'), `${HEADER}kim,${T},${long},\nlee,${T},gold,\n`);
    expect(await ingest(store, CSV, folder)).toMatchObject({ rowsSynced: 1, rowsFailed: 1 });
    const [reject] = await store.ingestion.rejects(W, ID, { limit: 9 });
    expect(reject).toMatchObject({
      key: 'kim',
      reason: 'The row has more than 1,000,000 characters in the columns that are used',
    });
    expect(reject!.payload.length).toBeLessThan(20_002);
  });

  test('causes one reject if its line has no end, and later lines are stored', async () => {
    const store = await aStore();
    const folder = aFolder();
    const source = {
      kind: 'ndjson',
      files: 'exports/a.ndjson',
      rows: 'attributes',
      columns: { PLAN: 'plan' },
    };
    const line = `${JSON.stringify({ EXTERNAL_ID: 'kim', UPDATED_AT: T, PLAN: 'gold' })}\n`;
    writeFileSync(join(exportsIn(folder), 'a.ndjson'), `${'x'.repeat(17_000_000)}\n${line}`);
    expect(await ingest(store, source, folder)).toMatchObject({ rowsSynced: 1, rowsFailed: 1 });
    expect(await getRejects(store)).toEqual([[null, 'The line has more than 16 MB']]);
  });

  test('causes 100 rejects if a small Parquet file repeats it 100 times', async () => {
    const store = await aStore();
    const folder = aFolder();
    const rows = Array.from({ length: 100 }, (_, at) => at);
    const buffer = parquetWriteBuffer({
      columnData: [
        { name: 'external_id', data: rows.map((at) => `u-${at}`), type: 'STRING' },
        { name: 'updated_at', data: rows.map(() => T), type: 'STRING' },
        { name: 'plan', data: rows.map(() => 'x'.repeat(4_000_000)), type: 'STRING' },
      ],
    });
    const bytes = Buffer.from(buffer);
    expect(bytes.length).toBeLessThan(1_000_000);
    writeFileSync(join(exportsIn(folder), 'a.parquet'), bytes);
    const source = { ...CSV, kind: 'parquet', files: 'exports/a.parquet', columns: { plan: 'plan' } };
    expect(await ingest(store, source, folder)).toMatchObject({ rowsSynced: 0, rowsFailed: 100 });
  });
});

test('rejects only a few lines for each quote that is never closed', async () => {
  const store = await aStore();
  const folder = aFolder();
  // Each odd quote is closed by the next one, 150 lines later, in the middle of a cell.
  const line = (at: number) => `u-${at},${T},${at % 150 === 0 ? 'a"b' : 'gold'},\n`;
  const rows = Array.from({ length: 30_000 }, (_, at) => line(at));
  writeFileSync(join(exportsIn(folder), 'a.csv'), HEADER + rows.join(''));
  expect(await ingest(store, CSV, folder)).toMatchObject({ rowsSynced: 29_800, rowsFailed: 200 });
});

describe('an endless SQLite view', () => {
  const endlessIn = (folder: string) => {
    const database = new DatabaseSync(join(exportsIn(folder), 'crm.db'));
    database.exec(`CREATE VIEW customers AS WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
      SELECT 'u-' || x AS external_id, '${T}' AS updated_at, 'gold' AS plan FROM n WHERE x < 0`);
    database.close();
    return {
      ...CSV,
      kind: 'sqlite',
      files: 'exports/crm.db',
      table: 'customers',
      columns: { plan: 'plan' },
    };
  };

  test('is canceled with the run, without leaving files', async () => {
    const store = await aStore();
    const folder = aFolder();
    const stop = new AbortController();
    const before = ownStaging();
    const run = ingest(store, endlessIn(folder), folder, { signal: stop.signal });
    await vi.waitFor(() => expect(ownStaging()).toHaveLength(before.length + 1), {
      timeout: patience(20_000),
    });
    stop.abort(new Error('The service was stopped'));
    expect(await run).toMatchObject({ status: 'error' });
    expect(ownStaging()).toEqual(before);
  });

  test('ends when the service is killed, and the next service removes its copy', async () => {
    const folder = aFolder();
    // Own folder, because other services on this machine remove leftovers too.
    vi.stubEnv('TMPDIR', aFolder());
    onTestFinished(() => void vi.unstubAllEnvs());
    const workspace = join(folder, 'workspace.json');
    const source = endlessIn(folder);
    writeFileSync(
      workspace,
      JSON.stringify({
        workspace_id: W,
        apps: [],
        api_keys: [],
        integrations: [{ integration_id: ID, source: { ...source, files: 'exports/crm.db' } }],
      }),
    );
    const script = await getProgram('ingest-process');
    const service = spawn(process.execPath, [script, join(folder, 'placard.db'), workspace]);
    onTestFinished(() => void service.kill('SIGKILL'));
    const ofService = () => stagingFolders().filter((name) => name.includes(`-${service.pid}-`));
    const stagers = async () =>
      (await getDescendants(service.pid!)).filter(({ command }) =>
        /stage-process|ingestion-files/.test(command),
      );
    await vi.waitFor(async () => expect([(await stagers()).length, ofService().length]).toEqual([1, 1]), {
      timeout: patience(30_000),
    });
    const [child] = await stagers();
    service.kill('SIGKILL');
    await once(service, 'exit');
    await hasEnded(child!.pid);
    expect(ofService()).toHaveLength(1);
    const store = await aStore();
    onTestFinished(startIngestion({ store, workspaces: () => [], log: silentLog }));
    await vi.waitFor(() => expect(ofService()).toEqual([]), { timeout: patience(20_000) });
  });
});

test('does not store cells of a CSV with an unclosed quote', async () => {
  const store = await aStore();
  const folder = aFolder();
  writeFileSync(join(exportsIn(folder), 'a.csv'), `${HEADER}kim,${T},gold,\nlee@example.org,"x\n`);
  await ingest(store, CSV, folder);
  const [reject] = await store.ingestion.rejects(W, ID, { limit: 9 });
  expect(JSON.stringify(reject)).not.toContain('lee@example.org');
  expect(reject!.payload).toBe('a.csv#3');
  expect((await getState(store))?.watermark?.sortKey).toBe('kim');
  expect(await exported(store, 'users')).toHaveLength(1);
  expect(workspaceWith(CSV, folder).integrations).toHaveLength(1);
});
