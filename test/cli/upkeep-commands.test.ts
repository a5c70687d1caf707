import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore, type Store } from '../../src/service/index.ts';
import { runCli } from '../helpers/run-cli.ts';

let folder: string;
let store: Store;
const file = (name: string) => join(folder, name);
const OLD = '2020-01-01T00:00:00.000Z';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'placard-upkeep-'));
  store = await openStore(file('live.db'));
  await store.recordBannerEvents('demo', [
    {
      externalUserId: 'u-1',
      appId: 'app',
      bannerId: 'bnr_1',
      campaignId: 'campaign',
      variantId: 'a',
      placementId: 'home',
      isControl: false,
      isTestSend: false,
      eventType: 'click',
      timestamp: OLD,
      timestampMs: Date.parse(OLD),
      receivedAtMs: Date.parse(OLD),
      round: 0,
    },
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
});

describe('placard drop-partitions', () => {
  const words = ['drop-partitions', '--db'];

  test('says what would go and what is forgotten with it, and drops only when told so', async () => {
    const asked = await runCli([...words, file('live.db'), '--before', '2021-01-01']);
    expect(asked.code).toBe(0);
    for (const text of [
      'would drop 1 rows of banner_events',
      'stays counted in their profiles',
      'Nothing was dropped',
    ]) {
      expect(asked.stdout).toContain(text);
    }
    expect(await exported(file('live.db'))).toContain(OLD);

    const done = await runCli([...words, file('live.db'), '--before', '2021-01-01', '--yes']);
    expect(done).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('dropped 1 rows of banner_events'),
    });
    expect(await exported(file('live.db'))).toBe('');
    const again = await runCli([...words, file('live.db'), '--before', '2021-01-01', '--yes']);
    expect(again.stdout).toBe('Nothing is there from before 2021-01-01.\n');
  });

  test.each([['last year'], ['2021-13-01'], ['2021-02-30'], ['2021']])(
    'refuses the day "%s"',
    async (day) => {
      expect(await runCli([...words, file('live.db'), '--before', day])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('--before must be a day'),
      });
    },
  );
});

describe('a command that visits a database', () => {
  test.each([
    ['backup', '--to', 'other.db'],
    ['drop-partitions', '--before', '2021-01-01'],
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
    ['drop-partitions', '--before', '2021-01-01'],
    ['export', 'users'],
  ])('refuses one without tables: %s', async (...words) => {
    writeFileSync(file('empty.db'), '');
    expect(await runCli([...words, '--db', file('empty.db')])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('empty.db is of an older Placard'),
    });
  });
});
