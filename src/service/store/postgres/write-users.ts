import type { Pool } from 'pg';
import type { Commit, UserWork } from '../store.ts';
import { type Batch, RESTART } from './apply-works.ts';
import { createPipeline } from './pipeline.ts';
import { isRefusal, retryConflicts } from './retry.ts';
import type { Run } from './statement.ts';
import { createTransactions } from './transact-users.ts';

/** Works in one transaction. */
const MAX_WORKS = 64;
/** Two for transactions: while one hears that its transaction has ended, the other begins the next. One is the pipe. */
export const WRITER_CONNECTIONS = 3;

interface Waiting {
  work: UserWork<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Applies works to the users they name and stores what changed, many works in a transaction. */
export const createUserWriter = (pool: Pool, pipe: Run, onBatch: (batch: Commit) => void) => {
  const { transact, isAlone } = createTransactions(pool, pipe);

  const store = async (waiting: Waiting[]): Promise<void> => {
    const batch: Batch = { works: waiting.map(({ work }) => work), failed: new Map(), values: new Map() };
    try {
      let isStored = false;
      while (!isStored) {
        isStored = await retryConflicts(() => transact(batch)).then(
          () => true,
          (error: unknown) => {
            if (error !== RESTART) throw error;
            return false;
          },
        );
      }
      for (const { work, resolve, reject } of waiting) {
        if (batch.failed.has(work)) reject(batch.failed.get(work));
        else resolve(batch.values.get(work));
      }
    } catch (error) {
      // One of them cannot be stored: the others must not fall with it.
      if (waiting.length > 1 && isRefusal(error)) for (const one of waiting) await store([one]);
      else for (const { reject } of waiting) reject(error);
    }
  };

  const pipeline = createPipeline<Waiting>({ most: MAX_WORKS, isAlone, run: store, onBatch });
  return {
    write: <T>(work: UserWork<T>): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        pipeline.add({ work, resolve: resolve as (value: unknown) => void, reject });
      }),
  };
};
