import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore, type Store } from '../../src/service/index.ts';
import { aBannerEvent, recordBannerEvents } from '../helpers/banner-events.ts';
import { ended, runCli, startCli } from '../helpers/run-cli.ts';

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
  test('copies the file of a running service, once', async () => {
    const words = ['backup', '--db', file('live.db'), '--to', file('copy.db')];
    expect(await runCli(words)).toMatchObject({ code: 0, stdout: expect.stringContaining('is a copy of') });
    expect(await exported(file('copy.db'))).toBe(await exported(file('live.db')));
    const again = await runCli(words);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('exists already') });
  });

  test('says what it needs', async () => {
    expect(await runCli(['backup', '--to', file('x.db')])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--db'),
    });
    expect(await runCli(['backup', '--db', file('live.db')])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--to'),
    });
  });

  test('names the folder that is not there', async () => {
    const words = ['backup', '--db', file('live.db'), '--to', file('nowhere/copy.db')];
    expect(await runCli(words)).toMatchObject({
      code: 1,
      stderr: `placard: ${file('nowhere')} is not there\n`,
    });
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('ended by %s, leaves nothing', async (signal) => {
    // Large enough that the copy is not whole before the signal is there.
    const large = new DatabaseSync(file(`${signal}.db`));
    large.exec(`CREATE TABLE ballast AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      SELECT i, zeroblob(1000000) FROM n`);
    large.close();
    const target = mkdtempSync(join(folder, 'target-'));
    const changes = watch(target);
    const child = startCli(['backup', '--db', file(`${signal}.db`), '--to', join(target, 'copy.db')]);
    const exit = ended(child);
    await once(changes, 'change');
    changes.close();
    expect(readdirSync(target).join()).toContain('.part');
    child.kill(signal);
    expect((await exit).signal).toBe(signal);
    expect(readdirSync(target)).toEqual([]);
  });
});

describe('a command that visits a database', () => {
  test.each([
    ['backup', '--to', 'other.db'],
    ['export', 'users'],
  ])('names one that is not there, and makes none: %s', async (...words) => {
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
  ])('says that an option or a variable is empty: %s', async (...words) => {
    expect(await runCli([...words, '--db', ''])).toMatchObject({
      code: 1,
      stderr: 'placard: --db needs a value\n',
    });
    expect(await runCli(words, { PLACARD_DB: '' })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/needs --db, the .* that the service uses; PLACARD_DB is empty\n$/),
    });
  });

  test('refuses one without tables', async () => {
    writeFileSync(file('empty.db'), '');
    expect(await runCli(['export', 'users', '--db', file('empty.db')])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('empty.db is of an older Placard'),
    });
  });
});
