import type { Sql } from 'postgres';
import type { UserWork } from '../store.ts';
import { createBatcher } from './batcher.ts';
import { isRefusal, retryConflicts } from './retry.ts';
import { createTransact, RESTART } from './transact-users.ts';

/** Works in one transaction. */
const MAX_WORKS = 64;
/** Transactions at once: two would mostly wait for each other's rows, and what is remembered would be outdated. */
export const LANES = 1;

interface Waiting {
  work: UserWork<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Applies works to the users they name and stores what changed, many works in a transaction. */
export const createUserWriter = (sql: Sql) => {
  const transact = createTransact(sql);

  const store = async (batch: Waiting[]): Promise<void> => {
    const works = batch.map(({ work }) => work);
    const failed = new Map<UserWork<unknown>, unknown>();
    try {
      let values: Map<UserWork<unknown>, unknown> | null = null;
      while (!values) {
        values = await retryConflicts(() => transact(works, failed)).catch((error: unknown) => {
          if (error !== RESTART) throw error;
          return null;
        });
      }
      for (const { work, resolve, reject } of batch) {
        if (failed.has(work)) reject(failed.get(work));
        else resolve(values.get(work));
      }
    } catch (error) {
      if (batch.length > 1 && isRefusal(error)) {
        // One of them cannot be stored: the others must not fall with it.
        for (const waiting of batch) await store([waiting]);
      } else for (const { reject } of batch) reject(error);
    }
  };

  const batcher = createBatcher<Waiting>({ lanes: LANES, most: MAX_WORKS, run: store });
  return {
    write: <T>(work: UserWork<T>): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        batcher.add({ work, resolve: resolve as (value: unknown) => void, reject });
      }),
  };
};
