import type { Pool } from 'pg';
import { isUsableAfter } from './retry.ts';
import { type Run, runOn } from './statement.ts';

/**
 * Runs a transaction, and resolves once it is committed. The commit follows at once what `work` has sent, whether it
 * has waited for it or not, so that locks are held no longer than the database takes.
 */
export const inTransaction = async <T>(pool: Pool, work: (run: Run) => Promise<T>): Promise<T> => {
  const client = await pool.connect();
  const runHere = runOn(client);
  const sent: Promise<unknown>[] = [];
  let isUsable = true;
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
    void run('COMMIT');
    await Promise.all(sent);
    return value;
  } catch (error) {
    // A transaction that cannot be ended keeps its locks until the connection ends.
    if (isUsable) await run('ROLLBACK').catch(() => undefined);
    throw error;
  } finally {
    client.release(!isUsable);
  }
};
