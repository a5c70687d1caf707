import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { InDoubtError } from '../write-errors.ts';
import type { Rows } from './rows.ts';
import { threadUrl } from './thread-url.ts';
import { type WriteProblem, writeErrorOf } from './write-problem.ts';
import { createWriter } from './writer.ts';

/** Writes the rows in one transaction; resolves once they are durable. */
export interface Committer {
  commit(rows: Rows): Promise<void>;
  close(): Promise<void>;
}

/** A writer on a thread of its own: the disk's waiting and SQLite's work stay off the service's thread. */
export const createThreadCommitter = async (
  file: string,
  thread = new Worker(threadUrl('writer'), { workerData: file }),
): Promise<Committer> => {
  /** Of the commits under way, in their order. */
  const settles: ((error: Error | null) => void)[] = [];
  let died: Error | null = null;
  await new Promise<void>((resolve, reject) => {
    thread.once('online', resolve);
    thread.once('error', reject);
  });
  const exited = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
  const fail = (error: Error) => {
    died ??= error;
    for (const settle of settles.splice(0)) {
      settle(new InDoubtError('The writer did not say what it stored', { cause: error }));
    }
  };
  thread.on('error', fail);
  thread.once('exit', () => fail(new Error('The thread that writes the database has ended')));
  thread.on('message', (problem: WriteProblem | null) => settles.shift()?.(problem && writeErrorOf(problem)));
  return {
    commit: (rows) =>
      new Promise((resolve, reject) => {
        if (died) throw died;
        thread.postMessage(rows);
        settles.push((error) => (error ? reject(error) : resolve()));
      }),
    async close() {
      if (died === null) thread.postMessage('close');
      await exited;
    },
  };
};

/** For a database in memory, which only its own connection can see. */
export const createInlineCommitter = (database: DatabaseSync): Committer => {
  const write = createWriter(database);
  return { commit: async (rows) => write(rows), close: async () => database.close() };
};
