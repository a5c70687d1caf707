import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { Row } from '../rows.ts';
import { createRunSqlite } from './open.ts';
import { type WriteProblem, writeProblemOf } from './thread-problem.ts';
import type { WriteSet } from './write-set.ts';
import { createWriter, prepareForWriting } from './writer.ts';

/** A commit, or one statement of what operators write. */
export type WriterMessage = WriteSet | { sql: string; values: readonly SQLInputValue[] };
export type WriterAnswer = { problem: WriteProblem } | { rows: Row[] };

/** The thread that owns the connection which writes. */
const database = new DatabaseSync(workerData as string);
prepareForWriting(database);
const write = createWriter(database);
const run = createRunSqlite(database);

const perform = (message: WriterMessage): Row[] => {
  if ('sql' in message) return run(message.sql, message.values);
  write(message);
  return [];
};

const answerTo = (message: WriterMessage): WriterAnswer => {
  try {
    return { rows: perform(message) };
  } catch (error) {
    return { problem: writeProblemOf(error) };
  }
};

parentPort?.on('message', (message: WriterMessage | 'close') => {
  if (message !== 'close') {
    parentPort?.postMessage(answerTo(message));
    return;
  }
  database.close();
  parentPort?.close();
});
