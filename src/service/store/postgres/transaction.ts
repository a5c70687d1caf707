import { setTimeout as pause } from 'node:timers/promises';
import { DatabaseError, type Pool } from 'pg';
import type { SqlRow } from '../../operators/index.ts';
import { InDoubtError, RetryLaterError, verdictOf } from '../write-errors.ts';
import { isUsableAfter, type Run, runOn, takeConnection } from './statement.ts';

/** Without an answer to COMMIT it is not known what is stored. A COMMIT that the server refused has stored nothing. */
const orInDoubt = (error: unknown): unknown =>
  error instanceof DatabaseError && verdictOf(error) !== 'in doubt'
    ? error
    : new InDoubtError('The database did not answer: what it stored is not known', { cause: error });

/**
 * Runs a transaction, and resolves once it is committed. `work` has waited for all that it has sent; it receives what the last
 * statement of `begin` answered.
 */
export const inTransaction = async <T>(
  pool: Pool,
  work: (run: Run, begun: SqlRow[]) => Promise<T>,
  begin = 'BEGIN',
): Promise<T> => {
  const client = await takeConnection(pool);
  const runHere = runOn(client);
  let isUsable = true;
  let isCommitting = false;
  const run: Run = async (text, values) => {
    try {
      return await runHere(text, values);
    } catch (error) {
      isUsable &&= isUsableAfter(error);
      throw error;
    }
  };
  try {
    // Where it is refused, what follows would be committed statement by statement.
    const begun = await run(begin);
    const value = await work(run, begun);
    isCommitting = true;
    await run('COMMIT');
    return value;
  } catch (error) {
    // A transaction that cannot be ended keeps its locks until the connection ends.
    if (isUsable) await run('ROLLBACK').catch(() => undefined);
    throw isCommitting ? orInDoubt(error) : error;
  } finally {
    client.release(!isUsable);
  }
};

const MAX_ATTEMPTS = 12;
/** For what others have locked. */
const MAX_WAITS = 2;
const BASE_DELAY_MS = 2;

/**
 * Runs a transaction again while others are in its way; where they always are, or where it has waited twice for what they
 * have locked, nothing of it is stored.
 */
export const retryConflicts = async <T>(transact: (attempt: number) => Promise<T>): Promise<T> => {
  let waits = 0;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transact(attempt);
    } catch (error) {
      const verdict = verdictOf(error);
      if (verdict !== 'again' && verdict !== 'later') throw error;
      if (verdict === 'later') waits += 1;
      if (attempt >= MAX_ATTEMPTS || waits >= MAX_WAITS) {
        throw new RetryLaterError('Other writes come first', { cause: error });
      }
      await pause(Math.random() * BASE_DELAY_MS * 2 ** Math.min(attempt, 6));
    }
  }
};
