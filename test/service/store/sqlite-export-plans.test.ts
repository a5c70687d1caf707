import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { SqliteJobs } from '../../../src/service/store/sqlite/jobs.ts';
import { createTables } from '../../../src/service/store/sqlite/open.ts';
import { createReader } from '../../../src/service/store/sqlite/reader.ts';

test('reads a page of an export in index order, because sorting a million rows per page takes hours', () => {
  const database = new DatabaseSync(':memory:');
  createTables(database, ':memory:');
  const pages: string[] = [];
  const prepare = database.prepare.bind(database);
  database.prepare = (sql) => {
    if (/ORDER BY/.test(sql)) pages.push(sql);
    return prepare(sql);
  };
  createReader(database, {} as SqliteJobs);
  // Users, events, banner events, and users with a shared address.
  expect(pages.length).toBe(4);
  const plans = pages.map((sql) =>
    prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => detail)
      .join('; '),
  );
  expect(plans.filter((plan) => plan.includes('TEMP B-TREE'))).toEqual([]);
});
