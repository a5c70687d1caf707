import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStore, openStoreReader, type Store } from '../../../src/service/store/index.ts';
import { type Migration, schemaNumber } from '../../../src/service/store/migrations.ts';
import { connect } from '../../../src/service/store/postgres/connect.ts';
import { createTables as createPostgresTables } from '../../../src/service/store/postgres/schema.ts';
import { runIn } from '../../../src/service/store/postgres/statement.ts';
import { createTables } from '../../../src/service/store/sqlite/open.ts';
import { POSTGRES_TABLES, SQLITE_TABLES } from '../../../src/service/store/tables.ts';
import { aBannerEvent, recordBannerEvents } from '../../helpers/banner-events.ts';
import { aDatabase } from '../../helpers/postgres.ts';
import { aPurchase } from './examples.ts';

const NOW = Date.UTC(2026, 2, 1);
const DAY_MS = 86_400_000;
const NUMBERS = Array.from({ length: schemaNumber() }, (_, index) => index + 1);

/** The tables as the Placard of a number made them. */
const tablesOf = (number: number, database: 'sqlite' | 'postgres') =>
  readFileSync(join(import.meta.dirname, `schemas/${number}.${database}.sql`), 'utf8');

const aFile = () => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-migrations-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'a.db');
};

const makeSqlite = (file: string, number: number) => {
  const database = new DatabaseSync(file);
  database.exec(`${tablesOf(number, 'sqlite')}; PRAGMA user_version = ${number}`);
  database.close();
};

const makePostgres = async (url: string, number: number) => {
  const { pool, close } = connect(url, 'upkeep');
  const run = runIn(pool);
  await run(tablesOf(number, 'postgres'));
  await run('CREATE TABLE placard_schema (version integer NOT NULL)');
  await run(`INSERT INTO placard_schema (version) VALUES (${number})`);
  await close();
};

/** What a service does with a database, in little. */
const use = async (store: Store) => {
  const lookups = [{ by: 'external_id' as const, value: 'kim' }];
  const apply = (users: Parameters<Parameters<Store['write']>[0]['apply']>[0]) => {
    const kim = users.create({ externalId: 'kim', custom: { n: 1 } }, NOW);
    users.record(kim, aPurchase(kim, 'cup', NOW + DAY_MS));
  };
  await store.write({ workspaceId: 'demo', lookups, nowMs: NOW, apply });
  await recordBannerEvents(store, 'kim', [aBannerEvent()]);
  const conversions = [{ product: 'cup', withinMs: 7 * DAY_MS }];
  expect(await store.readUsers('demo', lookups)).toMatchObject([{ custom: { n: 1 } }]);
  expect((await store.campaignResults('demo', { campaignId: 'campaign', conversions })).arms).toMatchObject([
    { exposed: 1, goals: [{ converted: 1 }] },
  ]);
  await store.close();
};

test('a change of the tables has a number of its own', async () => {
  // A table that is changed gets a migration in `migrations.ts`, and this the tables of the new number: vitest -u writes them.
  const number = schemaNumber();
  await expect(SQLITE_TABLES).toMatchFileSnapshot(`schemas/${number}.sqlite.sql`);
  await expect(POSTGRES_TABLES).toMatchFileSnapshot(`schemas/${number}.postgres.sql`);
});

describe.each(NUMBERS)('a database of number %i', (number) => {
  test('is brought forward by a service, on SQLite', async () => {
    const file = aFile();
    makeSqlite(file, number);
    await use(await openStore(file));
  });

  test('is brought forward by a service, on PostgreSQL', async () => {
    const url = await aDatabase();
    await makePostgres(url, number);
    await use(await openStore(url));
  });
});

/** As number 3 had an event of somebody outside the holdout: once as its campaign's, and once as the holdout's. */
const TWICE = `INSERT INTO banner_events (user_id, banner_id, event_type, time, workspace_id, campaign_id, variant_id,
    placement_id, day, app_id, is_control, is_test_send, received_at)
  SELECT 1, banner_id, 'impression', NOW, 'demo', campaign_id, variant_id, 'home', '2026-03-01', 'app', IS_NOT, IS_NOT, NOW
  FROM (SELECT 'bnr_1' AS banner_id, 'campaign' AS campaign_id, 'a' AS variant_id
    UNION ALL SELECT '@bnr_1', '@holdout:1', 'campaigns') AS events`;

test('an event that was stored a second time for a holdout is stored once', async () => {
  const file = aFile();
  makeSqlite(file, 3);
  const database = new DatabaseSync(file);
  database.exec(TWICE.replaceAll('NOW', '1').replaceAll('IS_NOT', '0'));
  createTables(database, file);
  const url = await aDatabase();
  await makePostgres(url, 3);
  const { pool, close } = connect(url, 'upkeep');
  onTestFinished(close);
  await runIn(pool)(TWICE.replaceAll('NOW', 'now()').replaceAll('IS_NOT', 'false'));
  await createPostgresTables(pool);
  const stored = 'SELECT banner_id, campaign_id, holdout_id FROM banner_events';
  const once = [{ banner_id: 'bnr_1', campaign_id: 'campaign', holdout_id: '@holdout:1' }];
  expect(database.prepare(stored).all()).toEqual(once);
  expect(await runIn(pool)(stored)).toEqual(once);
  database.close();
});

const NEXT = `ALTER TABLE users ADD COLUMN colour TEXT`;
const MIGRATIONS: Migration[] = [
  { sqlite: NEXT, postgres: NEXT },
  { sqlite: "UPDATE users SET colour = 'red'", postgres: "UPDATE users SET colour = 'red'" },
  // More than there are, so that what they make is newer.
  ...NUMBERS.map(() => ({ sqlite: 'SELECT 1', postgres: 'SELECT 1' })),
];
const BROKEN: Migration[] = [
  MIGRATIONS[0]!,
  { sqlite: 'UPDATE no_table SET x = 1', postgres: 'UPDATE no_table SET x = 1' },
];

describe('migrations', () => {
  test('run in their order and once, or not at all, on SQLite', () => {
    const open = () => {
      const database = new DatabaseSync(file);
      onTestFinished(() => database.close());
      return database;
    };
    const file = aFile();
    makeSqlite(file, 1);
    const add =
      'INSERT INTO users (user_id, workspace_id, version, created_at, updated_at) VALUES (1, $w, 1, 0, 0)';
    open().prepare(add).run({ $w: 'demo' });
    const broken = new DatabaseSync(file);
    expect(() => createTables(broken, file, BROKEN)).toThrow('no such table: no_table');
    broken.close();
    expect(open().prepare('SELECT * FROM users').get()).not.toHaveProperty('colour');
    createTables(open(), file, MIGRATIONS);
    createTables(open(), file, MIGRATIONS);
    expect(open().prepare('SELECT colour FROM users').all()).toEqual([{ colour: 'red' }]);
    expect(open().prepare('PRAGMA user_version').get()).toEqual({ user_version: 1 + MIGRATIONS.length });
    expect(() => createTables(open(), file)).toThrow(
      `has tables of number ${1 + MIGRATIONS.length}, and this Placard knows them up to ${schemaNumber()}: use a newer`,
    );
  });

  test('run in their order and once, or not at all, on PostgreSQL', async () => {
    const url = await aDatabase();
    await makePostgres(url, 1);
    const { pool, close } = connect(url, 'upkeep');
    onTestFinished(close);
    const run = runIn(pool);
    await run("INSERT INTO users VALUES (1, 'demo', NULL, NULL, 1, now(), now())");
    await expect(createPostgresTables(pool, BROKEN)).rejects.toThrow('"no_table" does not exist');
    expect((await run('SELECT * FROM users'))[0]).not.toHaveProperty('colour');
    // Two replicas that start together.
    await Promise.all([createPostgresTables(pool, MIGRATIONS), createPostgresTables(pool, MIGRATIONS)]);
    expect(await run('SELECT colour FROM users')).toEqual([{ colour: 'red' }]);
    expect(await run('SELECT version FROM placard_schema')).toEqual([{ version: 1 + MIGRATIONS.length }]);
    await expect(openStoreReader(url)).rejects.toThrow(
      `number ${1 + MIGRATIONS.length}, and this Placard knows them up to ${schemaNumber()}: use a newer`,
    );
  });
});
