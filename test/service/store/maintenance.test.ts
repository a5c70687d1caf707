import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { backupStore, openStore, openStoreReader, type Store } from '../../../src/service/store/index.ts';
import { aDatabase, runBeside } from '../../helpers/postgres.ts';
import { anEvent, byExternalId, collect } from './examples.ts';

const folder = mkdtempSync(join(tmpdir(), 'placard-upkeep-'));
afterAll(() => rmSync(folder, { recursive: true }));

const NOW = Date.now();

let files = 0;
const aFile = async () => {
  files += 1;
  return join(folder, `${files}.db`);
};

const write = (store: Store, user: string, events: [name: string, timeMs: number][]) =>
  store.write({
    workspaceId: 'demo',
    lookups: [byExternalId(user)],
    nowMs: NOW,
    apply: (users) => {
      const profile = users.find(byExternalId(user))[0] ?? users.create({ externalId: user }, NOW);
      for (const [name, timeMs] of events) users.record(profile, anEvent(profile, name, timeMs));
    },
  });

describe('a backup of the SQLite file', () => {
  test('is complete while the service continues to write', async () => {
    const file = await aFile();
    const store = await openStore(file);
    await Promise.all(Array.from({ length: 200 }, (_, i) => write(store, `before-${i}`, [['e', NOW]])));
    let isOver = false;
    let written = 0;
    const writing = (async () => {
      for (; !isOver; written += 1) await write(store, `while-${written}`, [['e', NOW]]);
    })();
    const copy = await aFile();
    await backupStore(file, copy);
    const count = written;
    isOver = true;
    await writing;
    await store.close();

    const restored = await openStore(copy);
    const ids = (await collect(restored.exportUsers('demo'))).map(({ externalId }) => externalId!);
    expect(ids.filter((id) => id.startsWith('before-'))).toHaveLength(200);
    expect(ids.filter((id) => id.startsWith('while-')).length).toBeLessThanOrEqual(count + 1);
    expect(await collect(restored.exportEvents('demo'))).toHaveLength(ids.length);
    await restored.close();
  });

  test('is rejected beside the WAL of another file', async () => {
    const file = await aFile();
    const copy = await aFile();
    const store = await openStore(file);
    await write(store, 'u-1', [['e', NOW]]);
    await backupStore(file, copy);
    await write(store, 'u-2', [['e', NOW]]);
    // As after a crash: the WAL exists and is not checkpointed.
    const log = readFileSync(`${file}-wal`);
    await store.close();
    copyFileSync(copy, file);
    writeFileSync(`${file}-wal`, log);
    await expect(openStore(file)).rejects.toThrow('-wal is the log of another file');
    rmSync(`${file}-wal`);
    const restored = await openStore(file);
    expect(await collect(restored.exportUsers('demo'))).toMatchObject([{ externalId: 'u-1' }]);
    await restored.close();
  });

  test('does not overwrite a file, and fails if the source is missing', async () => {
    const file = await aFile();
    await (await openStore(file)).close();
    await expect(backupStore(file, file)).rejects.toThrow('already exists');
    await expect(backupStore(join(folder, 'none.db'), join(folder, 'copy.db'))).rejects.toThrow(
      'does not exist',
    );
    await expect(backupStore('postgres://127.0.0.1/x', join(folder, 'copy.db'))).rejects.toThrow('pg_dump');
  });

  test('does not overwrite a file that appears during the copy', async () => {
    const own = mkdtempSync(join(folder, 'late-'));
    const file = join(own, 'placard.db');
    await (await openStore(file)).close();
    // A dangling symlink looks like a name that does not exist.
    symlinkSync(join(own, 'nothing'), join(own, 'copy.db'));
    await expect(backupStore(file, join(own, 'copy.db'))).rejects.toThrow('already exists');
    expect(readdirSync(own).filter((name) => /copy|nothing/.test(name))).toEqual(['copy.db']);
  });

  test('removes its partial copy if it fails', async () => {
    const own = mkdtempSync(join(folder, 'half-'));
    const file = join(own, 'placard.db');
    const store = await openStore(file);
    await Promise.all(
      Array.from({ length: 500 }, (_, i) => write(store, `u-${i}-${'x'.repeat(400)}`, [['e', NOW]])),
    );
    await store.close();
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0, bytes.length - 40_000));
    await expect(backupStore(file, join(own, 'copy.db'))).rejects.toThrow('malformed');
    expect(readdirSync(own).filter((name) => name.startsWith('copy'))).toEqual([]);
  });
});

test('rejects a database that cannot store every text', async () => {
  const url = new URL(await aDatabase());
  const run = runBeside(url.href);
  const name = `${url.pathname.slice(1)}_latin`;
  await run(`CREATE DATABASE ${name} ENCODING 'LATIN9' LOCALE 'C' TEMPLATE template0`);
  onTestFinished(async () => void (await run(`DROP DATABASE ${name}`)));
  url.pathname = name;
  await expect(openStore(url.href)).rejects.toThrow('The database has the encoding LATIN9');
});

describe('a database of another version', () => {
  test('is rejected if it belongs to another program', async () => {
    const file = await aFile();
    const other = new DatabaseSync(file);
    other.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY)');
    other.close();
    await expect(openStore(file)).rejects.toThrow(
      `${file} is not a Placard database: it has a table "orders"`,
    );
  });

  test.each([
    { name: 'SQLite', address: aFile },
    { name: 'PostgreSQL', address: aDatabase },
  ])('is rejected if it is newer, on $name', async ({ name, address }) => {
    const url = await address();
    await (await openStore(url)).close();
    if (name === 'SQLite') {
      const database = new DatabaseSync(url);
      database.exec('PRAGMA user_version = 999');
      database.close();
    } else {
      const run = runBeside(url);
      await run('UPDATE placard_schema SET version = 999');
    }
    for (const open of [openStore, openStoreReader]) {
      await expect(open(url)).rejects.toThrow(
        'was written by another build of Placard (it has schema 999, and this build 1)',
      );
    }
  });

  test('is found in any schema, even if a newer one precedes it in the search path', async () => {
    const url = await aDatabase();
    const store = await openStore(url);
    await write(store, 'u-1', [['e', NOW]]);
    await store.close();
    const run = runBeside(url);
    // Administrators do this because PostgreSQL 15 revoked the rights on `public`.
    await run('CREATE SCHEMA AUTHORIZATION CURRENT_USER');
    const later = await openStore(url);
    expect(await later.readUsers('demo', [byExternalId('u-1')])).toHaveLength(1);
    await later.close();
    expect(await run("SELECT count(*) FROM pg_tables WHERE tablename = 'users'")).toEqual([{ count: '1' }]);
  });

  test('is not read before a service has created its tables', async () => {
    const file = await aFile();
    new DatabaseSync(file).close();
    const empty = new DatabaseSync(file);
    empty.exec('CREATE TABLE other (x)');
    empty.close();
    await expect(openStoreReader(file)).rejects.toThrow('no Placard data');
    await expect(openStoreReader(await aDatabase())).rejects.toThrow('no Placard data');
  });
});

test('rejects a second service of a SQLite file', async () => {
  const file = await aFile();
  const store = await openStore(file);
  await expect(openStore(file)).rejects.toThrow('is locked by another Placard process');
  // Concurrent readers are allowed.
  const reader = await openStoreReader(file);
  expect(await reader.workspaceIds()).toEqual([]);
  await reader.close();
  await store.close();
  await (await openStore(file)).close();
  expect(statSync(file).size).toBeGreaterThan(0);
});

test('rejects a service that cannot lock its SQLite file', async () => {
  const own = mkdtempSync(join(folder, 'unwritable-'));
  const file = join(own, 'placard.db');
  await (await openStore(file)).close();
  chmodSync(own, 0o777);
  chmodSync(folder, 0o755);
  chmodSync(file, 0o666);
  chmodSync(`${file}-owner`, 0o444);
  // Root can write every file.
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    await expect(openStore(file)).rejects.toThrow('placard.db-owner, which keeps other services off');
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
});

test.each([
  ['a service', () => openStore('file:placard.db')],
  ['an export', () => openStoreReader('file:placard.db')],
  ['a backup', () => backupStore('file:placard.db', join(folder, 'copy.db'))],
  ['its copy', () => backupStore(join(folder, 'none.db'), 'file:copy.db')],
])('%s rejects a file: URL', async (_, open) => {
  await expect((async () => open())()).rejects.toThrow('expected the path of a file, not a file: URL');
});

test.each([
  { link: 'another path', target: 'real.db', isThere: true },
  { link: 'a link to a missing file', target: 'later.db', isThere: false },
])('rejects a second service of a SQLite file by $link', async ({ target, isThere }) => {
  const file = join(folder, target);
  const link = `${file}-link`;
  if (isThere) await (await openStore(file)).close();
  symlinkSync(file, link);
  const store = await openStore(link);
  await expect(openStore(file)).rejects.toThrow('is locked by another Placard process');
  await store.close();
  const owner = await openStore(file);
  await expect(openStore(link)).rejects.toThrow('is locked by another Placard process');
  await owner.close();
});
