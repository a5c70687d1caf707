import type { Pool } from 'pg';
import type { Commit, UserWork } from '../store.ts';
import { NotNowError } from '../write-errors.ts';
import { type Batch, RESTART } from './apply-works.ts';
import { createPipeline } from './pipeline.ts';
import { isLockedOut, isRefusal, retryConflicts } from './retry.ts';
import type { Run } from './statement.ts';
import { createTransactions } from './transact-users.ts';

/** Works in one transaction. */
const MAX_WORKS = 64;
/** Batches that one work may wait in for rows that somebody else has locked. */
const MAX_WAITS = 2;
/** Two for transactions: while one hears that its transaction has ended, the other begins the next. One is the pipe. */
export const WRITER_CONNECTIONS = 3;

interface Waiting {
  work: UserWork<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Applies works to the users they name and stores what changed, many works in a transaction. */
export const createUserWriter = (pool: Pool, pipe: Run, onBatch: (batch: Commit) => void) => {
  const { transact, isAlone, findLocked, recheckLocked } = createTransactions(pool, pipe);

  const refuse = (waiting: Waiting[], cause?: unknown) => {
    for (const { reject } of waiting) reject(new NotNowError('Other writes come first', { cause }));
  };

  /** Refuses those who would wait for others' locks; the rest goes on. */
  const withoutLocked = async (waiting: Waiting[], locked: Promise<Set<UserWork<unknown>>>) => {
    const found = await locked;
    if (found.size === 0) return waiting;
    refuse(waiting.filter(({ work }) => found.has(work)));
    return waiting.filter(({ work }) => !found.has(work));
  };

  const worksOf = (waiting: Waiting[]) => waiting.map(({ work }) => work);

  const store = async (waiting: Waiting[], waits = 1): Promise<void> => {
    const batch: Batch = { works: worksOf(waiting), failed: new Map(), values: new Map() };
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
      else if (isLockedOut(error)) await storeUnlocked(waiting, waits, error);
      else for (const { reject } of waiting) reject(error);
    }
  };

  const storeUnlocked = async (waiting: Waiting[], waits: number, cause: unknown): Promise<void> => {
    // Where all of a table is locked, it cannot be told who is.
    const rest = await withoutLocked(waiting, findLocked(worksOf(waiting))).catch(() => null);
    if (rest === null || waits === MAX_WAITS) refuse(rest ?? waiting, cause);
    else if (rest.length > 0) await store(rest, waits + 1);
  };

  const run = async (waiting: Waiting[]): Promise<void> => {
    const rest = await withoutLocked(waiting, recheckLocked(worksOf(waiting))).catch(() => waiting);
    if (rest.length > 0) await store(rest);
  };

  const pipeline = createPipeline<Waiting>({
    most: MAX_WORKS,
    isAlone,
    run,
    refuse: (one) => refuse([one]),
    onBatch,
  });
  return {
    isRefusing: pipeline.isRefusing,
    write: <T>(work: UserWork<T>): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        pipeline.add({ work, resolve: resolve as (value: unknown) => void, reject });
      }),
  };
};
