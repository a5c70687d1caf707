import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Store } from '../../src/service/index.ts';
import { patience } from '../helpers/patience.ts';
import { aDatabase } from '../helpers/postgres.ts';
import { aFolder, aStore, exported, getRejects, ingest } from './ingest.ts';

let url: string;
let store: Store;
let sql: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;

const connected = async (to = url) => {
  const client = new Client({ connectionString: to });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  return async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows;
};

const from = () => {
  const named = new URL(url);
  vi.stubEnv('SOURCE_PASSWORD', decodeURIComponent(named.password));
  named.password = '';
  return { kind: 'postgres', url: named.href, password_env: 'SOURCE_PASSWORD' };
};
const EVENTS = () => ({ ...from(), table: 'events', rows: 'events', key: 'id' });
const PAYLOAD = `'{"name":"viewed","time":"2026-03-01T10:00:00Z"}'`;
const insert = (id: number, at = 'now()', run = sql) =>
  run(`INSERT INTO events VALUES (${id}, 'kim', ${at}, ${PAYLOAD}::jsonb || '{"properties":{"id":${id}}}')`);
const ids = async () =>
  (await exported(store, 'events'))
    .map(({ properties }) => (properties as { id: number }).id)
    .sort((a, b) => a - b);
const run = (source: Record<string, unknown> = EVENTS()) => ingest(store, source, '.');

beforeEach(async () => {
  url = await aDatabase();
  store = await aStore();
  sql = await connected();
  await sql('CREATE TABLE events (id bigint, external_id text, updated_at timestamptz, payload jsonb)');
});

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('a table of PostgreSQL', () => {
  test('returns each row once, even if thousands have the same time', async () => {
    await sql(`INSERT INTO events SELECT id, 'kim', '2026-03-01 10:00:00.123456+00', ${PAYLOAD}::jsonb || jsonb_build_object('properties',
      jsonb_build_object('id', id)) FROM generate_series(1, 1234) AS id`);
    expect(await run()).toMatchObject({ status: 'success', rowsSynced: 1234 });
    await insert(2000, "'2026-03-01 10:00:00.123457+00'");
    expect(await run()).toMatchObject({ rowsSynced: 1 });
    expect(await run()).toMatchObject({ rowsSynced: 0 });
    expect(await ids()).toEqual([...Array.from({ length: 1234 }, (_, index) => index + 1), 2000]);
  });

  test('does not quote a value that fails to evaluate, because Studio viewers see the error', async () => {
    await insert(1);
    await sql(
      "CREATE VIEW broken AS SELECT *, (external_id || '@example.org')::bigint AS points FROM events",
    );
    const { status, message } = await run({ ...EVENTS(), table: 'broken', key: 'points' });
    expect([status, message]).toEqual([
      'error',
      'The source or the database failed: it cannot read a value of a row (SQLSTATE 22P02)',
    ]);
  });

  test('is read only after earlier transactions end, so that none of their rows are lost', async () => {
    const slow = await connected();
    await slow('BEGIN');
    await insert(1, 'now()', slow);
    await insert(2);
    expect(await run()).toMatchObject({ status: 'success', rowsSynced: 0 });
    await slow('COMMIT');
    expect(await run()).toMatchObject({ rowsSynced: 2 });
    expect(await ids()).toEqual([1, 2]);
  });

  test('is read in one snapshot, and a row committed during the run arrives in the next one', async () => {
    await sql(`INSERT INTO events SELECT id, 'kim', '2026-03-01 10:00:00+00'::timestamptz + id * interval '1 second', ${PAYLOAD}::jsonb ||
      jsonb_build_object('properties', jsonb_build_object('id', id)) FROM generate_series(1, 1000) AS id`);
    const write = store.write.bind(store);
    let batches = 0;
    vi.spyOn(store, 'write').mockImplementation(async (work) => {
      batches += 1;
      // While reading: one row before the cursor and one after.
      if (batches === 3) {
        await insert(5000, 'clock_timestamp()');
        await sql(
          'UPDATE events SET updated_at = clock_timestamp(), payload = payload || \'{"properties":{"id":6000}}\' WHERE id = 900',
        );
      }
      return write(work);
    });
    expect(await run()).toMatchObject({ rowsSynced: 1000 });
    expect(await run()).toMatchObject({ rowsSynced: 2 });
    expect((await ids()).slice(-3)).toEqual([1000, 5000, 6000]);
  });

  test('rejects rows without a time or a key, and with infinite or future times', async () => {
    await insert(1, 'NULL');
    await insert(2, "'infinity'");
    await insert(3, "now() + interval '1 year'");
    await sql(`INSERT INTO events VALUES (NULL, 'kim', now(), ${PAYLOAD})`);
    await insert(4);
    expect(await run()).toMatchObject({ status: 'partial', rowsSynced: 1, rowsFailed: 4 });
    expect((await getRejects(store)).map(([, reason]) => reason).sort()).toEqual([
      'The row has no id, or a key of more than 2,000 bytes',
      'The row has no updated_at, or one that is not a time',
      'updated_at is in the future',
      'updated_at is infinity, which is not a time',
    ]);
    await sql('DELETE FROM events WHERE id IN (1, 2, 3) OR id IS NULL');
    expect(await run()).toMatchObject({ status: 'success' });
    expect(await getRejects(store)).toEqual([]);
  });

  test('rejects rows with a key of more than 2,000 bytes, even if validation rejects the row', async () => {
    store = await aStore(await aDatabase());
    const long = "(SELECT string_agg(sha512(i::text::bytea)::text, '') FROM generate_series(1, 40) AS i)";
    await sql(`INSERT INTO events VALUES (1, ${long}, '2026-03-01', ${PAYLOAD})`);
    await sql(
      `INSERT INTO events VALUES (2, 'kim', '2026-03-02', '{"name":"viewed","time":"2026-03-01T10:00:00Z"}')`,
    );
    const byUser = { ...EVENTS(), key: 'external_id' };
    expect(await run(byUser)).toMatchObject({ status: 'partial', rowsSynced: 1, rowsFailed: 1 });
    expect(await getRejects(store)).toEqual([
      [null, 'The row has no external_id, or a key of more than 2,000 bytes'],
    ]);
  });

  test('returns rejected rows again with their current values', async () => {
    await insert(1);
    await sql("UPDATE events SET payload = '{}'");
    expect(await run()).toMatchObject({ status: 'error', rowsFailed: 1 });
    await sql(`UPDATE events SET payload = ${PAYLOAD}::jsonb || '{"properties":{"id":1}}'`);
    expect(await run()).toMatchObject({ status: 'success', rowsSynced: 1 });
    expect(await run()).toMatchObject({ rowsSynced: 0 });
    await insert(2);
    await sql("UPDATE events SET payload = '{}' WHERE id = 2");
    await run();
    await sql('DELETE FROM events WHERE id = 2');
    expect(await run()).toMatchObject({ status: 'success', rowsFailed: 0 });
    expect(await getRejects(store)).toEqual([]);
    expect(await ids()).toEqual([1]);
  });

  test('returns rejected rows within lookback_seconds once', async () => {
    const lagging = { ...EVENTS(), lookback_seconds: 3_600 };
    await insert(1);
    await insert(2);
    await sql("UPDATE events SET payload = '{}' WHERE id = 1");
    expect(await run(lagging)).toMatchObject({ rowsSynced: 1, rowsFailed: 1 });
    await sql(`UPDATE events SET payload = ${PAYLOAD}::jsonb || '{"properties":{"id":1}}' WHERE id = 1`);
    expect(await run(lagging)).toMatchObject({ rowsSynced: 1, rowsFailed: 0 });
    expect(await run(lagging)).toMatchObject({ rowsSynced: 0 });
    expect(await ids()).toEqual([1, 2]);
  });

  test('supports columns of every type, an alias, and times without a zone', async () => {
    await sql(`CREATE TABLE "Crm" (alias_name text, alias_label text, "Updated_At" timestamp, tier text, spent numeric, visits int8,
      tags text[], born date, prefs jsonb)`);
    await sql(`INSERT INTO "Crm" VALUES ('7', 'crm', '2026-03-01 10:00:00.5', 'gold', 12.50, 42, '{a,b}', '1990-02-03', '{"a":[1]}'),
      ('8', 'crm', '2026-03-01 10:00:00.6', NULL, NULL, NULL, NULL, NULL, NULL)`);
    const columns = {
      tier: 'tier',
      spent: 'spent',
      visits: 'visits',
      tags: 'tags',
      born: 'born',
      prefs: 'prefs',
    };
    expect(await run({ ...from(), table: 'public.Crm', rows: 'attributes', columns })).toMatchObject({
      status: 'success',
      rowsSynced: 2,
      watermarkUs: Date.parse('2026-03-01T10:00:00.600Z') * 1_000,
    });
    const [first] = await exported(store, 'users');
    expect(first).toMatchObject({
      user_aliases: [{ alias_name: '7', alias_label: 'crm' }],
      custom_attributes: { tier: 'gold', spent: 12.5, visits: 42, tags: ['a', 'b'], prefs: { a: [1] } },
    });
  });

  test('erases the users of padded keys, and reports their number', async () => {
    await insert(1);
    await run();
    await sql('CREATE TABLE gone (external_id char(10), updated_at timestamptz)');
    await sql("INSERT INTO gone VALUES ('kim', now()), ('nobody', now())");
    expect(await run({ ...from(), table: 'gone', rows: 'deletes' })).toMatchObject({
      status: 'success',
      rowsSynced: 2,
      message: '1 user was erased',
    });
    expect(await exported(store, 'users')).toEqual([]);
    // A run without new rows erases no users and logs no erasure.
    expect(await run({ ...from(), table: 'gone', rows: 'deletes' })).toMatchObject({
      rowsSynced: 0,
      message: null,
    });
  });

  test('fails the run on invalid UTF-8 if its encoding does not validate text, because names could merge', async () => {
    await sql(
      "CREATE DATABASE unchecked ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0",
    );
    const there = new URL(url);
    there.pathname = '/unchecked';
    const unchecked = await connected(there.href);
    onTestFinished(async () => void (await sql('DROP DATABASE unchecked WITH (FORCE)')));
    await unchecked('CREATE TABLE crm (external_id text, updated_at timestamptz, tier text)');
    await unchecked(
      `INSERT INTO crm VALUES ('kim', now(), 'Jörg'), ('lee', now(), E'J\\xf6rg'), (E'J\\xe4rg', now(), 'gold')`,
    );
    const source = { ...from(), table: 'crm', rows: 'attributes', columns: { tier: 'tier' } };
    there.password = '';
    const { status, message } = await run({ ...source, url: there.href });
    expect([status, message]).toEqual([
      'error',
      'The source or the database failed: it cannot read a value of a row (SQLSTATE 22021)',
    ]);
    expect(await exported(store, 'users')).toEqual([]);
    await unchecked("DELETE FROM crm WHERE external_id <> 'kim'");
    expect(await run({ ...source, url: there.href })).toMatchObject({ status: 'success', rowsSynced: 1 });
    expect(await exported(store, 'users')).toMatchObject([{ custom_attributes: { tier: 'Jörg' } }]);
  });

  test('identifies the same users by numeric identifiers as a CSV', async () => {
    await sql('CREATE TABLE crm (external_id bigint, updated_at timestamptz, tier text)');
    await sql("INSERT INTO crm VALUES (42, now(), 'gold')");
    const source = { ...from(), table: 'crm', rows: 'attributes', columns: { tier: 'tier' } };
    expect(await run(source)).toMatchObject({ status: 'success', rowsSynced: 1 });
    expect(await exported(store, 'users')).toMatchObject([{ external_id: '42' }]);
  });

  test('fails the run with the reason if the table, a column or a password is missing', async () => {
    expect((await run({ ...EVENTS(), password_env: 'PLACARD_NOT_SET' })).message).toMatch('PLACARD_NOT_SET');
    expect((await run({ ...EVENTS(), table: 'nothing' })).message).toMatch(
      'relation "nothing" does not exist',
    );
    expect((await run({ ...EVENTS(), url: 'postgres://u@127.0.0.1:1/x' })).message).toMatch('ECONNREFUSED');
    await sql('ALTER TABLE events DROP COLUMN updated_at');
    expect(await run()).toMatchObject({
      status: 'error',
      message: expect.stringMatching('"UPDATED_AT" is missing'),
    });
  });

  test('fails the run if the connection ends, and the next run continues after the stored rows', async () => {
    await sql(`INSERT INTO events SELECT id, 'kim', '2026-03-01 10:00:00+00', ${PAYLOAD}::jsonb || jsonb_build_object('properties',
      jsonb_build_object('id', id)) FROM generate_series(1, 2000) AS id`);
    const write = store.write.bind(store);
    let batches = 0;
    vi.spyOn(store, 'write').mockImplementation(async (work) => {
      batches += 1;
      if (batches === 3) {
        await sql(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'placard ingestion' AND datname = current_database()",
        );
      }
      return write(work);
    });
    const ended = await run();
    expect(ended.status).toBe('error');
    expect(ended.rowsSynced).toBeGreaterThan(200);
    expect(ended.rowsSynced).toBeLessThan(2000);
    expect(await run()).toMatchObject({ status: 'success', rowsSynced: 2000 - ended.rowsSynced });
    expect(await ids()).toHaveLength(2000);
    expect(new Set(await ids()).size).toBe(2000);
  });

  test('is read with lookback_seconds only if the role may not see running transactions', async () => {
    await sql(
      "DO $$ BEGIN CREATE ROLE placard_reader LOGIN PASSWORD 'of the reader'; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
    );
    await sql('GRANT SELECT ON events TO placard_reader');
    await insert(1);
    vi.stubEnv('READER_PASSWORD', 'of the reader');
    const asReader = new URL(url);
    asReader.username = 'placard_reader';
    asReader.password = '';
    const source = { ...EVENTS(), url: asReader.href, password_env: 'READER_PASSWORD' };
    expect((await run(source)).message).toMatch('GRANT pg_read_all_stats');
    expect(await run({ ...source, lookback_seconds: 60 })).toMatchObject({
      status: 'success',
      rowsSynced: 1,
    });
  });
});

describe.each([
  ['date', 'day'],
  ['timestamptz(0)', 'second'],
  ['timestamp(0)', 'second'],
])('rows with a time of type %s', (type, unit) => {
  test(`are read once their ${unit} is over`, async () => {
    await sql(`CREATE TABLE crm (external_id text PRIMARY KEY, updated_at ${type}, tier text)`);
    const source = { ...from(), table: 'crm', rows: 'attributes', columns: { tier: 'tier' } };
    await sql("SET TIME ZONE 'UTC'");
    // An open transaction stops the clock of the source.
    const slow = await connected();
    await slow('BEGIN');
    const [{ start } = {}] = await slow(
      `SELECT date_trunc('${unit}', now() AT TIME ZONE 'UTC')::text AS start`,
    );
    const insert = (id: string, time: string) => sql(`INSERT INTO crm VALUES ('${id}', ${time}, 'gold')`);
    await insert('kim', `timestamp '${start}' - interval '1 ${unit}'`);
    await insert('lee', `timestamp '${start}'`);
    expect(await run(source)).toMatchObject({ status: 'success', rowsSynced: 1 });
    // Its key is before that of the row of the same time.
    await insert('ann', `timestamp '${start}'`);
    expect(await run(source)).toMatchObject({
      rowsSynced: 0,
      message:
        unit === 'day'
          ? `Rows of ${String(start).slice(0, 10)} on are read once their day is over in UTC, because "updated_at" is a date`
          : null,
    });
    await slow('COMMIT');
    if (unit === 'day') return;
    await vi.waitFor(
      async () => expect(await run(source)).toMatchObject({ rowsSynced: 2 }),
      patience(10_000),
    );
    expect(await exported(store, 'users')).toHaveLength(3);
  });
});

test('stores an array of boxes as text, because it is not separated by commas', async () => {
  await sql(`CREATE TABLE crm AS SELECT 'kim'::text AS external_id, now() - interval '1 minute' AS updated_at,
    ARRAY[box '((0,0),(1,1))', box '((2,2),(3,3))'] AS areas`);
  const source = { ...from(), table: 'crm', rows: 'attributes', columns: { areas: 'areas' } };
  expect(await run(source)).toMatchObject({ status: 'success', rowsSynced: 1 });
  expect(await exported(store, 'users')).toMatchObject([
    { custom_attributes: { areas: '{(1,1),(0,0);(3,3),(2,2)}' } },
  ]);
});

test('does not use a column with an internal name as the watermark', async () => {
  await sql('ALTER TABLE events ADD COLUMN placard_us bigint, ADD COLUMN placard_key text');
  await insert(1, "'2026-03-01 10:00:00+00'");
  await sql("UPDATE events SET placard_us = 9007199254740991, placard_key = 'z'");
  expect(await run()).toMatchObject({ rowsSynced: 1 });
  await insert(2, "'2026-03-01 10:00:01+00'");
  expect(await run()).toMatchObject({ rowsSynced: 1 });
  expect(await ids()).toEqual([1, 2]);
});

test('reads the password from the file that a _FILE variable names', async () => {
  await insert(1);
  const file = join(aFolder(), 'password');
  const source = EVENTS();
  vi.stubEnv('SOURCE_PASSWORD', undefined);
  vi.stubEnv('SOURCE_PASSWORD_FILE', file);
  const named = `${file}, which SOURCE_PASSWORD_FILE names,`;
  expect((await run(source)).message).toBe(`${named} cannot be read (ENOENT)`);
  writeFileSync(file, '\n');
  expect((await run(source)).message).toBe(`${named} is empty`);
  writeFileSync(file, `${decodeURIComponent(new URL(url).password)}\r\n`);
  expect(await run(source)).toMatchObject({ status: 'success', rowsSynced: 1 });
});

test('uses a password over a Unix socket', async () => {
  await insert(1);
  const [{ unix_socket_directories: socket } = {}] = await sql('SHOW unix_socket_directories');
  const { username, password, port, pathname } = new URL(url);
  const overSocket = `postgres://${username}@${pathname}?host=${encodeURIComponent(String(socket))}&port=${port}`;
  const source = { ...EVENTS(), url: overSocket };
  vi.stubEnv('SOURCE_PASSWORD', 'wrong & "odd"');
  expect((await run(source)).message).toMatch(/password authentication failed/);
  vi.stubEnv('SOURCE_PASSWORD', decodeURIComponent(password));
  expect(await run(source)).toMatchObject({ status: 'success', rowsSynced: 1 });
});

test('rejects a row that is too large without transferring it completely', async () => {
  await insert(1);
  await insert(2);
  await sql(
    `UPDATE events SET payload = payload || jsonb_build_object('x', repeat('y', 2000000)) WHERE id = 1`,
  );
  expect(await run()).toMatchObject({ status: 'partial', rowsSynced: 1, rowsFailed: 1 });
  expect(await getRejects(store)).toEqual([
    ['1', 'The row has more than 1,000,000 characters in the columns that are used'],
  ]);
  await sql('UPDATE events SET payload = payload - $1', ['x']);
  await sql(`UPDATE events SET updated_at = now() WHERE id = 1`);
  expect(await run()).toMatchObject({ status: 'success', rowsSynced: 1 });
  expect(await getRejects(store)).toEqual([]);
});
