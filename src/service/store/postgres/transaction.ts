import type { Pool } from 'pg';
import { isReadOnly } from './retry.ts';
import { type Run, runOn } from './statement.ts';

/**
 * Runs a transaction, and resolves once it is committed. The commit follows at once what `work` has sent, whether it
 * has waited for it or not, so that locks are held no longer than the database takes.
 */
export const inTransaction = async <T>(pool: Pool, work: (run: Run) => Promise<T>): Promise<T> => {
  const client = await pool.connect();
  const runHere = runOn(client);
  const sent: Promise<unknown>[] = [];
  const run: Run = (text, values) => {
    const rows = runHere<never>(text, values);
    // It is heard of below.
    rows.catch(() => undefined);
    sent.push(rows);
    return rows;
  };
  try {
    void run('BEGIN');
    const value = await work(run);
    void run('COMMIT');
    await Promise.all(sent);
    client.release();
    return value;
  } catch (error) {
    // A transaction that cannot be ended keeps its locks until the connection ends.
    const hasEnded = await run('ROLLBACK').then(
      () => true,
      () => false,
    );
    client.release(!hasEnded || isReadOnly(error));
    throw error;
  }
};
