import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { type CampaignNumber, COUNT_NUMBERS, numberOf } from '../campaign-numbers.ts';
import { countResults } from './count-results.ts';
import { pruneSqlite } from './prune.ts';
import { sampleUsers } from './sample-users.ts';

const countNumbers = (database: DatabaseSync, workspaceId: string): CampaignNumber[] =>
  database.prepare(COUNT_NUMBERS).all({ $1: workspaceId }).map(numberOf);

/** What reads or changes so many rows that requests would wait for it. */
export const JOBS = { results: countResults, numbers: countNumbers, sample: sampleUsers, prune: pruneSqlite };

type Jobs = typeof JOBS;
type Values<Name extends keyof Jobs> = Jobs[Name] extends (
  database: DatabaseSync,
  ...values: infer V
) => unknown
  ? V
  : never;

export interface Job {
  file: string;
  name: keyof Jobs;
  values: unknown[];
}

/** Does a job on this thread. */
export const perform = (database: DatabaseSync, { name, values }: Pick<Job, 'name' | 'values'>): unknown =>
  (JOBS[name] as (database: DatabaseSync, ...values: unknown[]) => unknown)(database, ...values);

/** Run from source this file sits beside the thread's; built, both are files of `dist/`. */
const here = import.meta.url;
const threadFile = here.endsWith('.ts') ? './job-thread.ts' : './sqlite-job.js';

/** Does a job on a thread of its own, which ends with it. The signal ends both. */
const performOnThread = (workerData: Job, signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const thread = new Worker(new URL(threadFile, here), { workerData });
    const stop = () => void thread.terminate();
    signal.addEventListener('abort', stop);
    thread.once('message', resolve);
    thread.once('error', reject);
    thread.once('exit', () => {
      signal.removeEventListener('abort', stop);
      reject(signal.reason ?? new Error('The thread of a job has ended'));
    });
  });

/** Does jobs one after the other: several at once would leave no core for requests. */
export const createJobs = (file: string, inMemory: DatabaseSync | null) => {
  const closing = new AbortController();
  let last: Promise<unknown> = Promise.resolve();
  return {
    run<Name extends keyof Jobs>(
      name: Name,
      ...values: Values<Name>
    ): Promise<Awaited<ReturnType<Jobs[Name]>>> {
      const result = last.then(() =>
        inMemory
          ? perform(inMemory, { name, values })
          : performOnThread({ file, name, values }, closing.signal),
      );
      last = result.catch(() => undefined);
      return result as Promise<Awaited<ReturnType<Jobs[Name]>>>;
    },
    async close(): Promise<void> {
      closing.abort(new Error('The store is closed'));
      await last;
    },
  };
};

export type SqliteJobs = ReturnType<typeof createJobs>;
