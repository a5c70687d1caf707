import type { Pool } from 'pg';
import { isUsableAfter, orInDoubt } from './retry.ts';
import { type Run, runOn } from './statement.ts';
import { takeConnection } from './take-connection.ts';

/**
 * Runs a transaction, and resolves once it is committed. The commit follows at once what `work` has sent, whether it
 * has waited for it or not, so that locks are held no longer than the database takes.
 */
export const inTransaction = async <T>(pool: Pool, work: (run: Run) => Promise<T>): Promise<T> => {
  const client = await takeConnection(pool);
  const runHere = runOn(client);
  const sent: Promise<unknown>[] = [];
  let isUsable = true;
  let isCommitting = false;
  const run: Run = (text, values) => {
    const rows = runHere<never>(text, values);
    rows.catch((error: unknown) => {
      isUsable &&= isUsableAfter(error);
    });
    sent.push(rows);
    return rows;
  };
  try {
    // Where it is refused, what follows would be committed statement by statement.
    await run('BEGIN');
    const value = await work(run);
    isCommitting = true;
    void run('COMMIT');
    await Promise.all(sent);
    return value;
  } catch (error) {
    // A transaction that cannot be ended keeps its locks until the connection ends.
    if (isUsable) await run('ROLLBACK').catch(() => undefined);
    throw isCommitting ? orInDoubt(error) : error;
  } finally {
    client.release(!isUsable);
  }
};
