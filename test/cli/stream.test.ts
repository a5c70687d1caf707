import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openStore, type Store } from '../../src/service/index.ts';
import { aBannerEvent, recordBannerEvents } from '../helpers/banner-events.ts';
import { patience } from '../helpers/patience.ts';
import { aDatabase, lockBeside, runBeside, waitsFor } from '../helpers/postgres.ts';
import { ended, runCli, startCli } from '../helpers/run-cli.ts';
import { anEvent, aPurchase, byExternalId, NOW } from '../service/store/examples.ts';
import { aReceiver } from '../service/webhooks/receiver.ts';

let folder: string;
let store: Store;
const file = (name: string) => join(folder, name);
const stream = (...words: string[]) => runCli(['stream', '--db', file('live.db'), ...words]);
const rowsIn = (text: string) =>
  text
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const TABLES = [
  'users_behaviors_customevent',
  'users_behaviors_purchase',
  'users_messages_banner_impression',
  'users_messages_banner_click',
];

const act = (externalId: string, name: string, times = 1) =>
  store.write({
    workspaceId: 'demo',
    lookups: [byExternalId(externalId)],
    nowMs: NOW,
    apply(users) {
      const profile = users.find(byExternalId(externalId))[0] ?? users.create({ externalId }, NOW);
      for (let index = 0; index < times; index += 1)
        users.record(profile, { ...anEvent(profile, name), properties: { page: 'home' } });
      users.record(profile, aPurchase(profile, 'cup', NOW - 24 * 3_600_000));
    },
  });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'placard-stream-'));
  store = await openStore(file('live.db'));
  await act('kim', 'opened');
  await recordBannerEvents(store, 'kim', [aBannerEvent(), aBannerEvent({ eventType: 'click' })]);
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** Every Parquet file below a folder, with its rows. */
const parquetRows = async (root: string) => {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.parquet'),
  );
  const rows: [name: string, rows: Record<string, unknown>[]][] = [];
  for (const name of names.sort())
    rows.push([name, await parquetReadObjects({ file: await asyncBufferFromFile(join(root, name)) })]);
  return rows;
};

describe('placard stream', () => {
  test('writes NDJSON while the service is running, and continues from a cursor', async () => {
    const all = await stream('--to', 'ndjson');
    expect(all).toMatchObject({ code: 0, stderr: '4 events; cursor 2-2-0\n' });
    expect(rowsIn(all.stdout).map((row) => row['event_type'])).toEqual([
      'users.behaviors.CustomEvent',
      'users.behaviors.Purchase',
      'users.messages.banner.Impression',
      'users.messages.banner.Click',
    ]);
    const later = await stream('--to', 'ndjson', '--from', '1-1-0');
    expect(rowsIn(later.stdout)).toEqual(rowsIn(all.stdout).filter((_, index) => index % 2 === 1));
    expect(await stream('--to', 'ndjson', '--from', 'now')).toMatchObject({
      stdout: '',
      stderr: '0 events; cursor 2-2-0\n',
    });
    const clicks = await stream('--to', 'ndjson', '--types', 'users.messages.banner.Click');
    expect(rowsIn(clicks.stdout)).toHaveLength(1);
  });

  test('writes Parquet in Hive partitions, and the same files if repeated', async () => {
    const target = file('warehouse');
    expect(await stream('--to', 'parquet', target)).toMatchObject({ code: 0 });
    const written = await parquetRows(target);
    expect(written.map(([name]) => name)).toEqual([
      'event_type=users.behaviors.CustomEvent/date=2026-03-01/demo-0-0-0.parquet',
      'event_type=users.behaviors.Purchase/date=2026-02-28/demo-0-0-0.parquet',
      'event_type=users.messages.banner.Click/date=2026-03-01/demo-0-0-0.parquet',
      'event_type=users.messages.banner.Impression/date=2026-03-01/demo-0-0-0.parquet',
    ]);
    const lines = rowsIn((await stream('--to', 'ndjson')).stdout);
    const [, [event]] = written[0]!;
    const { event_type: _, ...line } = lines[0]!;
    expect({ ...event, time_ms: Number(event!['time_ms']) }).toEqual({ ...line, platform: null });
    expect(written[1]![1][0]).toMatchObject({ product_id: 'cup', price: 1.5, quantity: 2, currency: 'EUR' });
    expect(written[3]![1][0]).toMatchObject({ is_unique: true, campaign_id: 'campaign', language: null });
    expect(await stream('--to', 'parquet', target)).toMatchObject({ code: 0 });
    expect(await parquetRows(target)).toEqual(written);
  });

  test('writes Parquet for times before 1901, and of two workspaces into one folder', async () => {
    const target = file('shared');
    const both = await openStore(file('both.db'));
    for (const workspaceId of ['shop a', 'shop-b'])
      await both.write({
        workspaceId,
        lookups: [],
        nowMs: NOW,
        apply(users) {
          const profile = users.create({ externalId: 'kim' }, NOW);
          users.record(profile, anEvent(profile, 'opened', Date.UTC(1850, 0, 1)));
        },
      });
    await both.close();
    for (const id of ['shop a', 'shop-b']) {
      const words = ['stream', '--db', file('both.db'), '--workspace', id, '--to', 'parquet', target];
      expect(await runCli(words)).toMatchObject({ code: 0 });
    }
    const partition = 'event_type=users.behaviors.CustomEvent/date=1850-01-01';
    const times = { time: -(2 ** 31), time_ms: BigInt(Date.UTC(1850, 0, 1)) };
    expect(await parquetRows(target)).toMatchObject([
      [`${partition}/shop%20a-0-0-0.parquet`, [{ app_group_id: 'shop a', ...times }]],
      [`${partition}/shop-b-0-0-0.parquet`, [{ app_group_id: 'shop-b', ...times }]],
    ]);
  });

  test('continues from the position in the file of --resume', async () => {
    const resume = ['--resume', file('cursor')];
    expect(rowsIn((await stream('--to', 'ndjson', ...resume)).stdout)).toHaveLength(4);
    expect(readFileSync(file('cursor'), 'utf8')).toBe('2-2-0\n');
    await act('lee', 'later');
    const names = rowsIn((await stream('--to', 'ndjson', ...resume)).stdout).map(
      (row) => row['external_user_id'],
    );
    expect(names).toEqual(['lee', 'lee']);
  });

  test('sends events to a webhook', async () => {
    const receiver = await aReceiver();
    const words = ['stream', '--db', file('live.db'), '--to', 'webhook', receiver.url];
    const env = {
      PLACARD_WEBHOOK_PRIVATE_HOSTS: '127.0.0.1',
      HOOK: `whsec_${Buffer.alloc(24).toString('base64')}`,
    };
    expect(await runCli([...words, '--secret-env', 'HOOK'], env)).toMatchObject({ code: 0 });
    const ids = rowsIn((await stream('--to', 'ndjson')).stdout).map((row) => row['id']);
    expect(receiver.delivered.flatMap(({ events }) => events.map(({ id }) => id))).toEqual(ids);
    expect(receiver.delivered[0]!.headers.get('webhook-signature')).toMatch(/^v1,/);
    // Retries could not succeed.
    expect((await runCli([...words, '--secret-env', 'HOOKS'], env)).stderr).toContain('HOOKS is not set');
    expect((await runCli(words)).stderr).toContain('add its host to PLACARD_WEBHOOK_PRIVATE_HOSTS');
    expect((await runCli([...words.slice(0, -1), 'http://1.1.1.1/'], env)).stderr).toContain(
      'expected https:',
    );
    receiver.answer = () => new Response(null, { status: 410 });
    expect(await runCli(words, env)).toMatchObject({
      code: 1,
      stderr: `placard: ${receiver.url} returned 410: the endpoint is gone\n`,
    });
  });

  test('writes to tables of PostgreSQL, and loses and doubles nothing if killed', async () => {
    const url = await aDatabase();
    const run = runBeside(url);
    const words = ['--to', url, '--workspace', 'demo'];
    const readIds = async () => {
      const tables = TABLES.map((table) => `SELECT id::text AS id FROM ${table}`).join(' UNION ALL ');
      return (await run(`${tables} ORDER BY id`)).map(({ id }) => id);
    };
    const readCursors = async () =>
      (await run('SELECT cursor FROM placard_stream_cursors')).map(({ cursor }) => cursor);
    const streamedIds = async () =>
      rowsIn((await stream('--to', 'ndjson')).stdout)
        .map(({ id }) => String(id))
        .sort();

    expect(await stream(...words)).toMatchObject({ code: 0, stderr: expect.stringContaining(' events; ') });
    expect(await readIds()).toEqual(await streamedIds());
    expect(await run("SELECT * FROM users_behaviors_customevent WHERE external_user_id = 'kim'")).toEqual([
      {
        id: expect.any(String),
        user_id: expect.any(String),
        external_user_id: 'kim',
        app_group_id: 'demo',
        time: String(NOW / 1_000),
        time_ms: String(NOW),
        app_id: null,
        platform: null,
        name: 'opened',
        properties: { page: 'home' },
      },
    ]);
    expect(await run('SELECT is_unique, banner_placement_id FROM users_messages_banner_click')).toMatchObject(
      [{ is_unique: true }],
    );

    // The purchase is in the second batch, after events that the same transaction has written.
    await act('max', 'many', 1_200);
    const before = await readIds();
    const [cursor] = await readCursors();
    const lock = await lockBeside(url, 'LOCK TABLE users_behaviors_purchase IN SHARE MODE');
    const child = await startCli(['stream', '--db', file('live.db'), ...words]);
    const exit = ended(child);
    await vi.waitFor(async () => expect(await run(waitsFor())).toHaveLength(1), patience(30_000));
    const during = await readIds();
    expect(during.length - before.length).toBe(1_000);
    child.kill('SIGKILL');
    expect(await exit).toMatchObject({ signal: 'SIGKILL' });
    await lock.release();
    expect(await readIds()).toEqual(during);
    expect(await readCursors()).not.toEqual([cursor]);
    expect(await stream(...words)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('201 events; '),
    });
    expect(await readIds()).toEqual(await streamedIds());

    // A replay changes nothing, and adds columns that a table of an earlier version lacks.
    await run('DELETE FROM placard_stream_cursors');
    await run('ALTER TABLE users_behaviors_purchase DROP COLUMN quantity');
    expect(await stream(...words)).toMatchObject({ code: 0 });
    expect(await readIds()).toEqual(await streamedIds());
    await act('zoe', 'last');
    expect(await stream(...words)).toMatchObject({ stderr: expect.stringContaining('2 events; ') });
    expect(await run("SELECT quantity FROM users_behaviors_purchase WHERE external_user_id = 'zoe'")).toEqual(
      [{ quantity: '2' }],
    );

    // A further type starts at the beginning.
    const clicks = ['--types', 'users.messages.banner.Click', ...words];
    expect(await stream(...clicks)).toMatchObject({ stderr: expect.stringContaining('1 event; ') });
    expect(await stream(...clicks)).toMatchObject({ stderr: expect.stringContaining('0 events; ') });
    expect(await readCursors()).toHaveLength(2);
    expect(await readIds()).toEqual(await streamedIds());
  }, 120_000);

  test.each([
    [
      ['--to', 'ndjson', '--from', 'yesterday'],
      'expected start, now or a cursor such as 120-35-7, got "yesterday"',
    ],
    [['--to', 'csv'], 'stream needs --to ndjson, parquet, webhook or postgres://…, got "csv"'],
    [['--to', 'postgres://127.0.0.1/warehouse', '--resume', 'cursor'], '--resume is not expected'],
    [['--to', 'postgres://127.0.0.1/warehouse', 'folder'], '"folder" is not expected'],
    [['--to', 'parquet'], 'name the folder: placard stream --to parquet …'],
    [
      ['--to', 'ndjson', '--types', 'users.Nothing'],
      '--types has "users.Nothing"; the types are users.messages',
    ],
  ])('rejects %s', async (words, problem) => {
    expect(await stream(...words)).toMatchObject({ code: 1, stderr: expect.stringContaining(problem) });
  });
});

describe('placard webhooks', () => {
  test('lists, replays and resumes deliveries of a running service', async () => {
    const webhooks = (...words: string[]) => runCli(['webhooks', ...words, '--db', file('live.db')]);
    const start = { events: 0, bannerEvents: 0, userChanges: 0 };
    const claim = { workspaceId: 'demo', webhookId: 'crm', runId: 'run', nowMs: NOW, leaseMs: 1_000, start };
    const state = (await store.webhooks.acquireLease(claim))!;
    const through = { events: 2, bannerEvents: 2, userChanges: 0 };
    await store.webhooks.save({ ...state, deliveredThrough: through, disabledReason: 'http_410' });
    await store.webhooks.addAttempt(state, {
      attemptId: '2026-03-01T09:00:00.000Z a',
      messageId: 'msg_1',
      after: start,
      through,
      events: 4,
      attemptedAtMs: NOW,
      durationMs: 12,
      status: 410,
      error: 'http_410',
    });
    expect(rowsIn((await webhooks()).stdout)).toMatchObject([
      { webhook_id: 'crm', delivered_through: '2-2-0', disabled_reason: 'http_410' },
    ]);
    expect(rowsIn((await webhooks('attempts', 'crm')).stdout)).toMatchObject([
      { message_id: 'msg_1', status: 410, after: '0-0-0', through: '2-2-0', events: 4 },
    ]);
    expect(await webhooks('resend', 'crm', '--message', 'msg_2')).toMatchObject({
      code: 1,
      stderr: 'placard: no attempt of message "msg_2" is kept\n',
    });
    expect(await webhooks('resend', 'crm', '--message', 'msg_1')).toMatchObject({ code: 0 });
    expect(await store.webhooks.state('demo', 'crm')).toMatchObject({ resendMessageId: 'msg_1' });
    expect(await webhooks('resume', 'crm')).toMatchObject({ code: 0 });
    expect(await store.webhooks.state('demo', 'crm')).toMatchObject({ disabledReason: null });
    expect(await webhooks('replay', 'crm', '--from', '1-0-0')).toMatchObject({ code: 0 });
    expect(await store.webhooks.state('demo', 'crm')).toMatchObject({
      deliveredThrough: { events: 1, bannerEvents: 0, userChanges: 0 },
      runId: '',
    });
    expect(await webhooks('resume', 'other')).toMatchObject({ code: 1 });
  });
});
