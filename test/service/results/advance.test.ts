import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { advanceResults } from '../../../src/service/results/advance.ts';
import { SQLITE_RESULTS } from '../../../src/service/results/statements.ts';
import { runStepsSync } from '../../../src/service/sql/steps.ts';
import { createSendSqlite, createTables } from '../../../src/service/store/sqlite/open.ts';

test('applies a change that is visible but not stable once', () => {
  const database = new DatabaseSync(':memory:');
  createTables(database, ':memory:');
  database.exec(
    `INSERT INTO user_changes (workspace_id, user_id, kind, changed_at) VALUES ('demo', 1, 'erased', 0)`,
  );
  const send = createSendSqlite(database);
  const advance = (userChanges: number) =>
    runStepsSync(advanceResults(SQLITE_RESULTS, { events: 0, bannerEvents: 0, userChanges }), send).hasMore;
  expect([advance(0), advance(0)]).toEqual([true, false]);
  expect([advance(1), advance(1)]).toEqual([true, false]);
  database.close();
});
