import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { serializeError } from '../../../src/service/log.ts';
import { emptyChangeSet } from '../../../src/service/profiles/user-repository.ts';
import { toGroupWrites } from '../../../src/service/store/commit-group.ts';
import { createTables } from '../../../src/service/store/sqlite/open.ts';
import {
  createInlineWriter,
  NOTHING,
  type RemoteWriter,
  startWriterThread,
} from '../../../src/service/store/sqlite/writer.ts';
import { SQLITE_STATEMENTS } from '../../../src/service/store/statements.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'placard-write-problem-'));
  file = join(folder, 'a.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

const creating = (profile: string, ...ids: number[]) => {
  const of = { workspaceId: 'test', externalId: null, profile, version: 1, createdAtMs: 0, updatedAtMs: 0 };
  return toGroupWrites(SQLITE_STATEMENTS, {
    ...emptyChangeSet(),
    created: ids.map((userId) => ({ userId, ...of })),
  });
};

/** Two rows with the same ID. Any SQLite error would do. */
const refusedBy = async (committer: RemoteWriter): Promise<unknown> => {
  return committer.write(creating('{"email":"kim@example.org"}', 1, 1)).catch((error: unknown) => error);
};

const FACTS = { error: 'Error', code: 'ERR_SQLITE_ERROR', errcode: 1555, errstr: 'constraint failed' };

test('logs a write that SQLite rejects on its thread by kind, without the written data', async () => {
  const database = new DatabaseSync(file);
  createTables(database, file);
  database.close();
  const committer = await startWriterThread(file);
  const facts = serializeError(await refusedBy(committer));
  await committer.close();
  expect(facts).toMatchObject(FACTS);
  expect(JSON.stringify(facts)).not.toContain('kim');
});

test('logs a write that SQLite rejects in memory in the same way', async () => {
  const database = new DatabaseSync(':memory:');
  createTables(database, ':memory:');
  const committer = createInlineWriter(database);
  expect(serializeError(await refusedBy(committer))).toMatchObject(FACTS);
  await committer.close();
});

test('does not store a rejected write, and stores later writes', async () => {
  const database = new DatabaseSync(file);
  createTables(database, file);
  const committer = await startWriterThread(file);
  const users = (...ids: number[]) => creating('{}', ...ids);
  const fates = await Promise.allSettled([
    refusedBy(committer),
    committer.write(users(3, 4)),
    committer.write(users(5, 3)),
    // A value that cannot be cloned to the thread.
    committer.write({ ...users(7), dependentRowsToDelete: [Symbol('none') as never] }),
    committer.write(users(6)),
  ]);
  expect(fates.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
  ]);
  const stored = database.prepare('SELECT user_id FROM users ORDER BY 1').all();
  expect(stored.map((row) => row['user_id'])).toEqual([3, 4, 6]);
  await committer.close();
  database.close();
});

test('reports the pending group of a terminated thread as in doubt, and rejects later groups', async () => {
  const dies = "require('node:worker_threads').parentPort.once('message', () => process.exit(1))";
  const committer = await startWriterThread(file, new Worker(dies, { eval: true }));
  const getName = (error: Error) => error.name;
  const underWay = [committer.write(NOTHING), committer.write(NOTHING)];
  expect(await Promise.all(underWay.map((commit) => commit.catch(getName)))).toEqual([
    'InDoubtError',
    'InDoubtError',
  ]);
  await expect(committer.write(NOTHING)).rejects.toThrow('The thread that writes the database has ended');
  await committer.close();
});

test('reports a disk error as in doubt, a full disk as not stored, and a lock as retryable', async () => {
  const answers = `const { parentPort } = require('node:worker_threads');
    const errcodes = [1034, 4874, 778, 1290, 13, 5];
    parentPort.on('message', (rows) => {
      if (rows === 'close') parentPort.close();
      else parentPort.postMessage({ problem: { message: 'disk I/O error', code: 'ERR_SQLITE_ERROR', errcode: errcodes.shift() } });
    });`;
  const committer = await startWriterThread(file, new Worker(answers, { eval: true }));
  const fates = await Promise.allSettled([1, 2, 3, 4, 5, 6].map(() => committer.write(NOTHING)));
  expect(fates).toMatchObject([
    { reason: { name: 'InDoubtError', cause: { errcode: 1034 } } },
    { reason: { name: 'InDoubtError', cause: { errcode: 4874 } } },
    { reason: { name: 'InDoubtError', cause: { errcode: 778 } } },
    { reason: { name: 'InDoubtError', cause: { errcode: 1290 } } },
    { reason: { name: 'Error', errcode: 13 } },
    { reason: { name: 'TransientError' } },
  ]);
  await committer.close();
});

test('skips groups of a rejected cache, even if a health check fails in the meantime', async () => {
  const database = new DatabaseSync(file);
  createTables(database, file);
  const other = new DatabaseSync(file);
  const writer = createInlineWriter(database);
  await expect(writer.write(creating('{}', 1, 1), 7)).rejects.toThrow('constraint failed');
  other.exec('BEGIN IMMEDIATE');
  await expect(writer.write(NOTHING)).rejects.toThrow('locked');
  other.exec('ROLLBACK');
  expect(await writer.write(creating('{}', 2), 7)).toBe(false);
  expect(await writer.write(creating('{}', 2), 8)).toBe(true);
  other.close();
  database.close();
});
