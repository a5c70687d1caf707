import { closeSync, fsyncSync, openSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { verifyResults } from '../../results/verify.ts';
import { SQLITE } from '../../sql/dialect.ts';
import type { SampleQuery } from '../store.ts';
import { readSample } from '../workspace-reads.ts';
import { createRunSqlite } from './open.ts';
import { threadUrl } from './writer.ts';

/** Copies the database to a new file, and syncs it to disk. */
const copyTo = (database: DatabaseSync, file: string): void => {
  // Reads all pages in one transaction. The backup API would restart at every write.
  database.prepare('VACUUM INTO ?').run(file);
  const descriptor = openSync(file, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

/** Jobs that read too many rows for the main thread, where requests would wait. */
const JOBS = {
  verifyResults: (database: DatabaseSync) => (workspaceId: string) =>
    verifyResults(
      createRunSqlite(database),
      (sql, [of, through]) => database.prepare(sql).iterate({ $1: of, $2: through }),
      SQLITE,
      workspaceId,
    ),
  sample: (database: DatabaseSync) => (query: SampleQuery) =>
    readSample(createRunSqlite(database), { users: '*', userCampaigns: '*' }, query),
  copy: (database: DatabaseSync) => (to: string) => copyTo(database, to),
};

type Verbs = { [Name in keyof typeof JOBS]: ReturnType<(typeof JOBS)[Name]> };

export interface Job {
  file: string;
  name: keyof Verbs;
  values: unknown[];
}

/** Runs a job on the current thread. */
export const perform = (database: DatabaseSync, { name, values }: Pick<Job, 'name' | 'values'>): unknown =>
  Reflect.apply(JOBS[name](database), undefined, values);

/** Runs a job on its own thread, which ends with the job. The signal aborts the job and the thread. */
export const performOnThread = (workerData: Job, signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const thread = new Worker(threadUrl('job'), { workerData });
    const stop = () => void thread.terminate();
    signal.addEventListener('abort', stop);
    thread.once('message', resolve);
    thread.once('error', reject);
    thread.once('exit', () => {
      signal.removeEventListener('abort', stop);
      reject(signal.reason ?? new Error('The thread of a job has ended'));
    });
  });

/** Runs jobs one at a time, because concurrent jobs would leave no core for requests. */
export const createJobs = (file: string, inMemory: DatabaseSync | null) => {
  const closing = new AbortController();
  let last: Promise<unknown> = Promise.resolve();
  return {
    run<Name extends keyof Verbs>(
      name: Name,
      ...values: Parameters<Verbs[Name]>
    ): Promise<Awaited<ReturnType<Verbs[Name]>>> {
      const result = last.then(() =>
        inMemory
          ? perform(inMemory, { name, values })
          : performOnThread({ file, name, values }, closing.signal),
      );
      last = result.catch(() => undefined);
      return result as Promise<Awaited<ReturnType<Verbs[Name]>>>;
    },
    async close(): Promise<void> {
      closing.abort(new Error('The store is closed'));
      await last;
    },
  };
};

export type SqliteJobs = ReturnType<typeof createJobs>;
