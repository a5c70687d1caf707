import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createService, openStore, vacuumStore } from '../../../src/service/index.ts';
import { redactAuditSubject } from '../../../src/service/operators/index.ts';
import { connect } from '../../../src/service/store/postgres/connect.ts';
import { createPoolRun } from '../../../src/service/store/postgres/statement.ts';
import { POSTGRES_STATEMENTS } from '../../../src/service/store/statements.ts';
import { APP_ID, aCampaign, aWorkspace, CLIENT_KEY, SERVER_KEY } from '../../helpers/a-workspace.ts';
import { patience } from '../../helpers/patience.ts';
import { aDatabase, runBeside } from '../../helpers/postgres.ts';

const ERASED = [
  'erased-user',
  'erased@example.org',
  '48999000111',
  'Erasmina',
  'erased-crm',
  'erased-secret-page',
];
const KEPT = 'kept-user';

/** Two users do the same on separate services; one of them is erased. */
const eraseOne = async (address: string) => {
  const store = await openStore(address);
  const workspace = aWorkspace({
    campaigns: [aCampaign()],
    api_keys: [
      { type: 'client', key: CLIENT_KEY, permissions: ['banners.sync', 'banners.track'] },
      { type: 'server', key: SERVER_KEY, permissions: ['users.track', 'users.delete'] },
    ],
  });
  const service = createService({ workspaces: [workspace], store });
  const post = async (path: string, body: unknown, key = SERVER_KEY) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const request = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await service.fetch(new Request(`http://service${path}`, request));
    expect(response.ok).toBe(true);
    return response.json();
  };
  const time = new Date().toISOString();
  const live = async (external_id: string, facts: Record<string, unknown>, page: string) => {
    await post('/users/track', {
      attributes: [{ external_id, ...facts }],
      events: [{ external_id, name: 'viewed', time, properties: { page } }],
      purchases: [
        { external_id, product_id: 'teapot', currency: 'EUR', price: 4, time, properties: { page } },
      ],
    });
    const envelope = { external_user_id: external_id, app_id: APP_ID, app_version: '1' };
    const { banners } = await post(
      '/v1/device-messaging/banners/sync',
      { ...envelope, placements: ['home'] },
      CLIENT_KEY,
    );
    const events = [{ id: banners.home.id, event_type: 'click', timestamp: time }];
    await post('/v1/device-messaging/banners/track', { ...envelope, events }, CLIENT_KEY);
  };
  await live(KEPT, { first_name: 'Kim' }, 'a-page');
  const facts = { email: 'erased@example.org', phone: '+48999000111', first_name: 'Erasmina' };
  await live('erased-user', { ...facts, crm: 'erased-crm' }, 'erased-secret-page');
  await store.studio.addAudit({
    workspaceId: 'test',
    atMs: Date.now(),
    operator: 'Mia',
    action: 'user.view',
    subject: 'erased-user',
    details: '',
  });
  expect(await post('/users/delete', { external_ids: ['erased-user'] })).toMatchObject({ deleted: 1 });
  await service.close();
};

/** Words found in any file of a folder. */
const wordsIn = (folder: string, words: readonly string[]): string[] => {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    // PostgreSQL may create or remove its catalog cache file at any time.
    (each) => each.isFile() && each.name !== 'pg_internal.init',
  );
  const all = Buffer.concat(files.map(({ parentPath, name }) => readFileSync(join(parentPath, name))));
  return words.filter((word) => all.includes(word));
};

const planOnSqlite = async (file: string): Promise<string> => {
  await (await openStore(file)).close();
  const database = new DatabaseSync(file);
  onTestFinished(() => database.close());
  return JSON.stringify(database.prepare(`EXPLAIN QUERY PLAN ${redactAuditSubject('?', '?')}`).all());
};

const planOnPostgres = async (): Promise<string> => {
  const address = await aDatabase();
  await (await openStore(address)).close();
  const { pool, close } = connect(address, 'groups', { connections: 1 });
  onTestFinished(close);
  const { sql, values } = POSTGRES_STATEMENTS.redactAuditSubject('test', 'kim');
  return JSON.stringify(await createPoolRun(pool)(`EXPLAIN ${sql}`, values));
};

test('removes all data of an erased user from the SQLite file with VACUUM', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-erasure-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await eraseOne(join(folder, 'live.db'));
  await vacuumStore(join(folder, 'live.db'));
  expect(wordsIn(folder, [...ERASED, KEPT])).toEqual([KEPT]);
});

test('removes all data of an erased user from the PostgreSQL table files with VACUUM', async () => {
  const address = await aDatabase();
  await eraseOne(address);
  const run = runBeside(address);
  const [row] = await run(
    "SELECT current_setting('data_directory') || '/base/' || oid AS folder FROM pg_database WHERE datname = current_database()",
  );
  const vacuum = async () => {
    await vacuumStore(address);
    // A checkpoint unlinks dropped files and writes new ones.
    await run('CHECKPOINT');
    await run('CHECKPOINT');
    expect(wordsIn(String(row!['folder']), [...ERASED, KEPT])).toEqual([KEPT]);
  };
  // Rows still visible to an older transaction are copied, and PostgreSQL analyzes its own tables at any time.
  await vi.waitFor(vacuum, { timeout: patience(20_000), interval: 500 });
});

test('skips VACUUM of a file that a service uses', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-erasure-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const store = await openStore(join(folder, 'live.db'));
  onTestFinished(() => store.close());
  await expect(vacuumStore(join(folder, 'live.db'))).rejects.toThrow('is locked by another Placard process');
});

test.each([
  ['SQLite', (file: string) => planOnSqlite(file)],
  ['PostgreSQL', () => planOnPostgres()],
])('finds a user in the audit log by an index, on %s', async (_, getPlan) => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-erasure-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  expect(await getPlan(join(folder, 'live.db'))).toContain('operator_audit_of_user');
});
