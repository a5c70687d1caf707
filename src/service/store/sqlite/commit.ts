import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import type { RunSql } from '../../operators/index.ts';
import type { Row } from '../rows.ts';
import { InDoubtError } from '../write-errors.ts';
import { createRunSqlite } from './open.ts';
import { threadUrl, writeErrorOf } from './thread-problem.ts';
import type { WriteSet } from './write-set.ts';
import { createWriter } from './writer.ts';
import type { WriterAnswer, WriterMessage } from './writer-thread.ts';

/** The one connection that writes. */
export interface Committer {
  /** Writes the rows in one transaction; resolves once they are durable. */
  commit(rows: WriteSet): Promise<void>;
  /** Runs a statement between two commits. */
  run: RunSql;
  close(): Promise<void>;
}

/** A writer on a thread of its own: the disk's waiting and SQLite's work stay off the service's thread. */
export const createThreadCommitter = async (
  file: string,
  thread = new Worker(threadUrl('writer'), { workerData: file }),
): Promise<Committer> => {
  /** Of what is under way, in its order. */
  const asked: { resolve(rows: Row[]): void; reject(error: Error): void }[] = [];
  let died: Error | null = null;
  await new Promise<void>((resolve, reject) => {
    thread.once('online', resolve);
    thread.once('error', reject);
  });
  const exited = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
  const fail = (error: Error) => {
    died ??= error;
    const inDoubt = new InDoubtError('The writer did not say what it stored', { cause: error });
    for (const { reject } of asked.splice(0)) reject(inDoubt);
  };
  thread.on('error', fail);
  thread.once('exit', () => fail(new Error('The thread that writes the database has ended')));
  thread.on('message', (answer: WriterAnswer) => {
    const first = asked.shift();
    if ('problem' in answer) first?.reject(writeErrorOf(answer.problem));
    else first?.resolve(answer.rows);
  });
  const ask = (message: WriterMessage) =>
    new Promise<Row[]>((resolve, reject) => {
      if (died) throw died;
      thread.postMessage(message);
      asked.push({ resolve, reject });
    });
  return {
    commit: async (rows) => void (await ask(rows)),
    run: (sql, values) => ask({ sql, values }),
    async close() {
      if (died === null) thread.postMessage('close');
      await exited;
    },
  };
};

/** For a database in memory, which only its own connection can see. */
export const createInlineCommitter = (database: DatabaseSync): Committer => {
  const write = createWriter(database);
  return {
    commit: async (rows) => write(rows),
    run: createRunSqlite(database),
    close: async () => database.close(),
  };
};
