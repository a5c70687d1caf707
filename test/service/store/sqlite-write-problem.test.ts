import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { errorFacts } from '../../../src/service/log.ts';
import {
  type Committer,
  createInlineCommitter,
  createThreadCommitter,
} from '../../../src/service/store/sqlite/commit.ts';
import { createGroup } from '../../../src/service/store/sqlite/group.ts';
import { migrate } from '../../../src/service/store/sqlite/schema.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'placard-write-problem-'));
  file = join(folder, 'a.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Two rows of one ID: any failure of SQLite would do. */
const refusedBy = async (committer: Committer): Promise<unknown> => {
  const row = [1, 'test', '{"email":"kim@example.org"}', 1];
  const group = { ...createGroup(), inserts: [...row, ...row] };
  return committer.commit(group).catch((error: unknown) => error);
};

const FACTS = { error: 'Error', code: 'ERR_SQLITE_ERROR', errcode: 1555, errstr: 'constraint failed' };

test('a write that SQLite refuses on its thread is logged by its kind, and without what was written', async () => {
  const database = new DatabaseSync(file);
  migrate(database, file);
  database.close();
  const fileDescriptor = openSync(file, 'r+');
  const committer = await createThreadCommitter({ file, fileDescriptor });
  const facts = errorFacts(await refusedBy(committer));
  await committer.close();
  closeSync(fileDescriptor);
  expect(facts).toMatchObject(FACTS);
  expect(JSON.stringify(facts)).not.toContain('kim');
});

test('a write that SQLite refuses in memory is logged the same', async () => {
  const database = new DatabaseSync(':memory:');
  migrate(database, ':memory:');
  const committer = createInlineCommitter(database);
  expect(errorFacts(await refusedBy(committer))).toMatchObject(FACTS);
  await committer.close();
});
