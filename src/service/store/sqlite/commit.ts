import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import type { WrittenFile } from './checkpointer.ts';
import type { Group } from './group.ts';
import { type WriteProblem, writeErrorOf } from './write-problem.ts';
import { createWriter } from './writer.ts';

/** Stores a group; resolves once it is durable. One at a time. */
export interface Committer {
  commit(group: Group): Promise<void>;
  close(): Promise<void>;
}

/** Run from source this file sits beside the thread's; built, both are files of `dist/`. */
const here = import.meta.url;
const threadFile = here.endsWith('.ts') ? './writer-thread.ts' : './sqlite-writer.js';

export const createThreadCommitter = async (workerData: WrittenFile): Promise<Committer> => {
  const thread = new Worker(new URL(threadFile, here), { workerData });
  let settle: ((error: Error | null) => void) | null = null;
  let died: Error | null = null;
  await new Promise<void>((resolve, reject) => {
    thread.once('online', resolve);
    thread.once('error', reject);
  });
  const exited = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
  const fail = (error: Error) => {
    died = error;
    settle?.(error);
    settle = null;
  };
  thread.on('error', fail);
  thread.once('exit', () => fail(new Error('The thread that writes the database has ended')));
  thread.on('message', (problem: WriteProblem | null) => {
    const done = settle;
    settle = null;
    done?.(problem && writeErrorOf(problem));
  });
  return {
    commit: (group) =>
      new Promise((resolve, reject) => {
        if (died) return reject(died);
        settle = (error) => (error ? reject(error) : resolve());
        thread.postMessage({ ...group, handedOver: [] }, group.handedOver);
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
  return {
    commit: async (group) => write(group),
    close: async () => database.close(),
  };
};
