import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { emptyChangeSet } from '../../../src/service/profiles/user-repository.ts';
import { toGroupWrites } from '../../../src/service/store/commit-group.ts';
import { openStore } from '../../../src/service/store/index.ts';
import { createTables } from '../../../src/service/store/sqlite/open.ts';
import {
  CHECKPOINT_PAGES,
  setForWriting,
  startWriterThread,
} from '../../../src/service/store/sqlite/writer.ts';
import { SQLITE_STATEMENTS } from '../../../src/service/store/statements.ts';

const MIB = 2 ** 20;
const NOW = Date.UTC(2026, 2, 1, 9);

const aFile = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'a.db');
};

test('checkpoints the WAL before it exceeds the limit of docs/guides/operate.md, without losing rows', async () => {
  const file = aFile();
  const database = new DatabaseSync(file);
  setForWriting(database);
  createTables(database, file);
  const pageBytes = Number(database.prepare('PRAGMA page_size').get()?.['page_size']);
  const limit = (CHECKPOINT_PAGES * pageBytes) / MIB;
  expect(readFileSync('docs/guides/operate.md', 'utf8')).toContain(`${limit} MiB of its log`);

  const count = database.prepare('SELECT count(*) AS rows FROM users');
  const committer = await startWriterThread(file);
  const groups = 40;
  for (let group = 0; group < groups; group += 1) {
    const created = Array.from({ length: 100 }, (_, i) => {
      const profile = JSON.stringify({ note: 'x'.repeat(40_000) });
      const times = { createdAtMs: 0, updatedAtMs: 0 };
      return {
        userId: group * 100 + i + 1,
        workspaceId: 'demo',
        externalId: null,
        profile,
        version: 1,
        ...times,
      };
    });
    await committer.write(toGroupWrites(SQLITE_STATEMENTS, { ...emptyChangeSet(), created }));
    // As in a service that reads users between two commits.
    expect(count.get()).toEqual({ rows: (group + 1) * 100 });
  }
  expect(statSync(file).size).toBeGreaterThan(64 * MIB);
  expect(statSync(`${file}-wal`).size).toBeLessThan((limit + 10) * MIB);
  await committer.close();
  expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  database.close();
});

test('uses less than 1 KB of WAL per event during a long read', async () => {
  const file = aFile();
  const database = new DatabaseSync(file);
  setForWriting(database);
  createTables(database, file);
  const reader = new DatabaseSync(file, { readOnly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM users').get();
  const writer = await startWriterThread(file);
  const [groups, eventsPerGroup, users] = [40, 800, 10_000];
  for (let group = 0; group < groups; group += 1) {
    const events = Array.from({ length: eventsPerGroup }, (_, i) => ({
      workspaceId: 'demo',
      userId: 1 + (((group * eventsPerGroup + i) * 7_919) % users),
      event: {
        kind: 'event' as const,
        externalId: null,
        userId: 0,
        appId: null,
        name: 'product_viewed',
        timeMs: NOW + group,
        receivedAtMs: NOW + group,
        properties: { category: 'garden', position: 12, from: 'home' },
      },
    }));
    await writer.write(toGroupWrites(SQLITE_STATEMENTS, { ...emptyChangeSet(), events }));
  }
  const bytesPerEvent = statSync(`${file}-wal`).size / (groups * eventsPerGroup);
  console.log(`${Math.round(bytesPerEvent)} bytes of the log an event`);
  expect(bytesPerEvent).toBeLessThan(1_000);
  await writer.close();
  reader.close();
  database.close();
});

test('shrinks the WAL after a long read', async () => {
  const file = aFile();
  const database = new DatabaseSync(file);
  createTables(database, file);
  setForWriting(database);
  database.exec('PRAGMA synchronous = OFF');
  const insert = database.prepare(
    'INSERT INTO workspaces (workspace_id, secret) VALUES (?, ?) ON CONFLICT DO UPDATE SET secret = excluded.secret',
  );
  let round = 0;
  const write = (mebibytes: number) => {
    round += 1;
    for (let each = 0; each < mebibytes; each += 1) insert.run(`w-${each}`, String(round).repeat(MIB));
  };
  const logBytes = () => statSync(`${file}-wal`).size;
  write(100);
  const reader = new DatabaseSync(file, { readOnly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM users').get();
  write(100);
  write(100);
  expect(logBytes()).toBeGreaterThan(150 * MIB);
  reader.close();
  write(100);
  expect(logBytes()).toBeLessThan(80 * MIB);
  database.close();
});

test('checkpoints the WAL between batches of results', async () => {
  const file = aFile();
  const database = new DatabaseSync(file);
  createTables(database, file);
  setForWriting(database);
  const users = 12_000;
  const count = 3 * users;
  // In an order in which each batch writes nearly all pages of the results.
  database.exec(
    `WITH RECURSIVE numbers (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${count - 1})
     INSERT INTO banner_events (user_id, banner_id, event_type, occurred_at, workspace_id, campaign_id, placement_id, day, app_id,
       is_control, is_test_send, is_first_of_type, received_at)
     SELECT i * 7919 % ${users}, 'b', 'impression', ${NOW} + i, 'demo', 'spring', 'home_hero', '2026-03-01', 'web', 0, 0, 0, ${NOW} + i
     FROM numbers`,
  );
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const store = await openStore(file);
  while (!(await store.catchUpResults()).isCaughtUp);
  const impressions = database.prepare("SELECT impressions FROM campaign_counts WHERE dimension = ''").get();
  expect(impressions).toEqual({ impressions: count });
  // Twice as large without the checkpoint.
  expect(statSync(`${file}-wal`).size).toBeLessThan(36 * MIB);
  await store.close();
  expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  database.close();
});
