import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { InDoubtError } from '../write-errors.ts';
import { threadUrl, writeErrorOf } from './thread-problem.ts';
import { createWriter, type Writer } from './writer.ts';
import type { WriterAnswer, WriterMessage } from './writer-thread.ts';

/** The one connection that writes. What it answers is durable. */
export type Committer = {
  [Verb in keyof Writer]: (...values: Parameters<Writer[Verb]>) => Promise<ReturnType<Writer[Verb]>>;
} & { close(): Promise<void> };

/** A writer on a thread of its own: the disk's waiting and SQLite's work stay off the service's thread. */
export const createThreadCommitter = async (
  file: string,
  thread = new Worker(threadUrl('writer'), { workerData: file }),
): Promise<Committer> => {
  /** Of what is under way, in its order. */
  const asked: { resolve(value: unknown): void; reject(error: Error): void }[] = [];
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
    else first?.resolve(answer.value);
  });
  const verb =
    <Verb extends keyof Writer>(name: Verb): Committer[Verb] =>
    (...values: unknown[]) =>
      new Promise<never>((resolve, reject) => {
        if (died) throw died;
        thread.postMessage({ do: name, with: values } satisfies WriterMessage);
        asked.push({ resolve: resolve as (value: unknown) => void, reject });
      });
  return {
    write: verb('write'),
    run: verb('run'),
    countGoals: verb('countGoals'),
    async close() {
      if (died === null) thread.postMessage('close');
      await exited;
    },
  };
};

/** For a database in memory, which only its own connection can see. */
export const createInlineCommitter = (database: DatabaseSync): Committer => {
  const { write, run, countGoals } = createWriter(database);
  return {
    write: async (rows) => write(rows),
    run: async (...statement) => run(...statement),
    countGoals: async (step) => countGoals(step),
    close: async () => database.close(),
  };
};
