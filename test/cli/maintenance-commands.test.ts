import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore, type Store } from '../../src/service/index.ts';
import { aWorkspace, SERVER_KEY } from '../helpers/a-workspace.ts';
import { aBannerEvent, recordBannerEvents } from '../helpers/banner-events.ts';
import { aDatabase } from '../helpers/postgres.ts';
import { ended, runCli, spawnCli, startCli } from '../helpers/run-cli.ts';
import { runService } from '../helpers/running-service.ts';

let folder: string;
let store: Store;
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'placard-upkeep-'));
  store = await openStore(file('live.db'));
  const at = Date.parse('2020-01-01T00:00:00.000Z');
  await recordBannerEvents(store, 'u-1', [
    aBannerEvent({ eventType: 'click', timeMs: at, receivedAtMs: at }),
  ]);
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const exported = async (db: string) => (await runCli(['export', 'banner-events', '--db', db])).stdout;

describe('placard backup', () => {
  test('copies the database file of a running service, and does not overwrite a copy', async () => {
    const words = ['backup', '--db', file('live.db'), '--to', file('copy.db')];
    expect(await runCli(words)).toMatchObject({ code: 0, stdout: expect.stringContaining('is a copy of') });
    expect(await exported(file('copy.db'))).toBe(await exported(file('live.db')));
    const again = await runCli(words);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('already exists') });
  });

  test('writes a file that only its owner can read', async () => {
    const copied = await runCli(['backup', '--db', file('live.db'), '--to', file('private.db')]);
    expect(copied.code).toBe(0);
    const names = ['live.db', 'live.db-wal', 'live.db-shm', 'live.db-owner', 'private.db'];
    const modes = names.map((name) => (statSync(file(name)).mode & 0o777).toString(8));
    expect(modes).toEqual(names.map(() => '600'));
  });

  test('reports missing arguments', async () => {
    expect(await runCli(['backup', '--to', file('x.db')])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--db'),
    });
    expect(await runCli(['backup', '--db', file('live.db')])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--to'),
    });
  });

  test('reports a missing folder', async () => {
    const words = ['backup', '--db', file('live.db'), '--to', file('nowhere/copy.db')];
    expect(await runCli(words)).toMatchObject({
      code: 1,
      stderr: `placard: ${file('nowhere')} does not exist\n`,
    });
  });

  test('removes only the partial copies of killed backups to the same file', async () => {
    const target = mkdtempSync(join(folder, 'target-'));
    const ended = spawnSync(process.execPath, ['--version']).pid;
    const left = [ended, process.pid].flatMap((pid) => [
      `copy.db.${pid}.part`,
      `copy.db.${pid}.part-journal`,
    ]);
    const kept = [`copy.db.${process.ppid}.part`, `other.db.${ended}.part`, 'copy.db.x.part'];
    for (const name of [...left, ...kept]) writeFileSync(join(target, name), '');
    const words = ['backup', '--db', file('live.db'), '--to', join(target, 'copy.db')];
    expect(await runCli(words)).toMatchObject({ code: 0 });
    expect(readdirSync(target).sort()).toEqual(['copy.db', ...kept].sort());
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('removes its partial copy if ended by %s', async (signal) => {
    // Large enough that the signal arrives before the copy is complete.
    await (await openStore(file(`${signal}.db`))).close();
    const large = new DatabaseSync(file(`${signal}.db`));
    large.exec(`CREATE TABLE ballast AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      SELECT i, zeroblob(1000000) FROM n`);
    large.close();
    const target = mkdtempSync(join(folder, 'target-'));
    const changes = watch(target);
    const child = await startCli(['backup', '--db', file(`${signal}.db`), '--to', join(target, 'copy.db')]);
    const exit = ended(child);
    await once(changes, 'change');
    changes.close();
    expect(readdirSync(target).join()).toContain('.part');
    child.kill(signal);
    expect((await exit).signal).toBe(signal);
    expect(readdirSync(target)).toEqual([]);
  });
});

describe('placard prune', () => {
  test('deletes older rows while the service is running, only with --yes', async () => {
    const words = ['prune', '--db', file('live.db'), '--before', '2020-01-02'];
    const asked = await runCli(words);
    expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining('Re-run with --yes') });
    expect(await exported(file('live.db'))).not.toBe('');
    expect(await runCli([...words, '--yes'])).toMatchObject({
      code: 0,
      stdout: 'deleted events and purchases: 0, banner events: 1\n',
    });
    expect(await exported(file('live.db'))).toBe('');
  });

  test('runs VACUUM only if no service has the file open', async () => {
    const words = (db: string) => ['prune', '--db', db, '--vacuum'];
    expect(await runCli(words(file('live.db')))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is locked by another Placard process'),
    });
    await runCli(['backup', '--db', file('live.db'), '--to', file('rest.db')]);
    expect(await runCli(words(file('rest.db')))).toMatchObject({
      code: 0,
      stdout: 'vacuum complete\n',
    });
  });

  test('works on PostgreSQL', async () => {
    const db = await aDatabase();
    const others = await openStore(db);
    await recordBannerEvents(others, 'u-1', [aBannerEvent()]);
    await others.close();
    const words = ['prune', '--db', db, '--before', '2026-03-02', '--yes', '--vacuum'];
    expect(await spawnCli(words)).toMatchObject({
      code: 0,
      stdout: 'deleted events and purchases: 0, banner events: 1\nvacuum complete\n',
    });
  });

  test.each([
    [[], '--before, --vacuum or both'],
    [['--before', '2026-02-30'], '--before must be a day such as 2026-01-01, got "2026-02-30"'],
    [['--before', 'March'], '--before must be a day'],
  ])('reports the problem of %j', async (words, problem) => {
    const { code, stderr } = await runCli(['prune', '--db', file('live.db'), ...words]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(problem) });
  });
});

describe('placard erase', () => {
  test('erases users through the service', async () => {
    const service = await runService([aWorkspace()]);
    const attributes = [{ external_id: 'u-771' }, { external_id: 'u-772' }];
    await service.call('POST', '/users/track', { key: SERVER_KEY, body: { attributes } });
    const words = ['erase', '--external-id', 'u-771,u-773', '--endpoint', service.url];
    const { code, stdout } = await spawnCli(words, { PLACARD_API_KEY: SERVER_KEY });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('1 of 2 users') });
    const body = { external_ids: ['u-771', 'u-772'] };
    const left = await service.call('POST', '/users/export/ids', { key: SERVER_KEY, body });
    expect(left.body.users).toMatchObject([{ external_id: 'u-772' }]);
    await service.stop();
  });

  test('requires a user', async () => {
    expect(await runCli(['erase'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--external-id'),
    });
  });
});

describe('commands that open a database', () => {
  test.each([
    ['backup', '--to', 'other.db'],
    ['export', 'users'],
  ])('report a missing database and do not create it: %s', async (...words) => {
    const missing = file('missing.db');
    expect(await runCli([...words, '--db', missing])).toMatchObject({
      code: 1,
      stderr: `placard: ${missing} does not exist\n`,
    });
    expect(existsSync(missing)).toBe(false);
  });

  test.each([
    ['backup', '--to', 'other.db'],
    ['export', 'users'],
  ])('report an empty option or variable: %s', async (...words) => {
    expect(await runCli([...words, '--db', ''])).toMatchObject({
      code: 1,
      stderr: 'placard: --db needs a value\n',
    });
    expect(await runCli(words, { PLACARD_DB: '' })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/needs --db, the .* that the service uses; PLACARD_DB is empty\n$/),
    });
  });

  test('reject a database without tables', async () => {
    writeFileSync(file('empty.db'), '');
    expect(await runCli(['export', 'users', '--db', file('empty.db')])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('empty.db holds no Placard data'),
    });
  });
});
