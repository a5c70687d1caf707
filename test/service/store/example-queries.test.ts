import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished, test } from 'vitest';
import { aDatabase, runBeside } from '../../helpers/postgres.ts';
import { askAll } from './example-queries.ts';

test('the queries of docs/guides/sql-queries.md return the expected rows by SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-queries-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'live.db');
  await askAll('SQLite', file, async (sql) => {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      return database.prepare(sql).all();
    } finally {
      database.close();
    }
  });
});

test('the queries of docs/guides/sql-queries.md return the expected rows by PostgreSQL', async () => {
  const url = await aDatabase();
  await askAll('PostgreSQL', url, runBeside(url));
});
