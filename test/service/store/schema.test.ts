import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStore, openStoreReader } from '../../../src/service/store/index.ts';
import { tableNames } from '../../../src/service/store/schema.ts';
import { TABLES } from '../../../src/service/store/tables.ts';
import { aDatabase, runBeside } from '../../helpers/postgres.ts';

/** Changes that make a database one of another build, by database. */
const OTHER_BUILDS = [
  {
    difference: "it has no table 'user_identifiers'",
    sqlite: 'DROP TABLE user_identifiers',
    postgres: 'DROP TABLE user_identifiers',
  },
  {
    difference: 'it has schema 5, and this build 1',
    sqlite: 'PRAGMA user_version = 5',
    postgres: 'UPDATE placard_schema SET version = 5',
  },
];

const refusal = (database: string, difference: string) =>
  `${database} was written by another build of Placard (${difference}): export the data with that build, and import them into a new database`;

const aFile = () => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-schema-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'a.db');
};

const change = (file: string, sql: string) => {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
};

describe.each(OTHER_BUILDS)(
  'a database of another build: $difference',
  ({ difference, sqlite, postgres }) => {
    test('is rejected without changes on SQLite', async () => {
      const file = aFile();
      await (await openStore(file)).close();
      change(file, sqlite);
      const before = readFileSync(file);
      await expect(openStore(file)).rejects.toThrow(refusal(file, difference));
      await expect(openStoreReader(file)).rejects.toThrow(refusal(file, difference));
      expect(readFileSync(file).equals(before)).toBe(true);
    });

    test('is rejected on PostgreSQL', async () => {
      const url = await aDatabase();
      await (await openStore(url)).close();
      await runBeside(url)(postgres);
      await expect(openStore(url)).rejects.toThrow(refusal('The database', difference));
      await expect(openStoreReader(url)).rejects.toThrow(refusal('The database', difference));
    });
  },
);

/** Tables that the guide of the Studio describes as a whole. */
const TABLES_OF_STUDIO = ['releases', 'drafts', 'operator_sessions', 'operator_audit', 'invited_operators'];

test('documents every column', () => {
  const sections = readFileSync('docs/reference/sql-schema.md', 'utf8').split(/^## /m);
  const tables = TABLES.filter(({ name }) => !TABLES_OF_STUDIO.includes(name));
  const undocumented = tables.flatMap(({ name, columns }) => {
    const section =
      sections.find(
        (each) => /^(.*)\n/.exec(each)![1]!.split(', ').includes(name) || each.includes(`\n\`${name}\` has `),
      ) ?? '';
    return columns
      .filter((column) => !section.includes(column.name))
      .map((column) => `${name}.${column.name}`);
  });
  expect(undocumented).toEqual([]);
});

describe('opening a database', () => {
  test('fails if a column is missing or unknown', async () => {
    const file = aFile();
    await (await openStore(file)).close();
    change(file, 'ALTER TABLE users ADD COLUMN colour TEXT');
    const added = "it has a column 'users.colour' that this build does not know";
    await expect(openStore(file)).rejects.toThrow(refusal(file, added));
    change(file, 'ALTER TABLE users DROP COLUMN colour; ALTER TABLE releases RENAME COLUMN author TO writer');
    await expect(openStore(file)).rejects.toThrow(refusal(file, "it has no column 'releases.author'"));
  });

  test('detects every table that it creates, on both databases', async () => {
    const file = aFile();
    await (await openStore(file)).close();
    const database = new DatabaseSync(file);
    const made = database
      .prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
      )
      .all();
    database.close();
    expect(made.map(({ name }) => name)).toEqual(tableNames('sqlite').sort());
    const url = await aDatabase();
    await (await openStore(url)).close();
    const rows = await runBeside(url)(
      "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename",
    );
    expect(rows.map(({ tablename }) => tablename)).toEqual(tableNames('postgres').sort());
  });

  test('leaves the database of another program unchanged', async () => {
    const file = aFile();
    change(file, 'CREATE TABLE notes (text TEXT)');
    await expect(openStore(file)).rejects.toThrow(
      `${file} is not a Placard database: it has a table "notes"`,
    );
  });

  test('creates the tables once if replicas start together', async () => {
    const url = await aDatabase();
    const stores = await Promise.all([openStore(url), openStore(url)]);
    for (const store of stores) await store.close();
    expect(await runBeside(url)('SELECT version FROM placard_schema')).toEqual([{ version: 1 }]);
  });
});
