import type { Pool } from 'pg';
import { isUsableAfter, orInDoubt } from './retry.ts';
import { type Count, queryOn, type Run } from './statement.ts';
import { takeConnection } from './take-connection.ts';

/** Runs a transaction, and resolves once it is committed. `work` has waited for all that it has sent. */
export const inTransaction = async <T>(
  pool: Pool,
  work: (run: Run, count: Count) => Promise<T>,
): Promise<T> => {
  const client = await takeConnection(pool);
  const query = queryOn(client);
  let isUsable = true;
  let isCommitting = false;
  const send: typeof query = async (text, values) => {
    try {
      return await query(text, values);
    } catch (error) {
      isUsable &&= isUsableAfter(error);
      throw error;
    }
  };
  try {
    // Where it is refused, what follows would be committed statement by statement.
    await send('BEGIN');
    const value = await work(
      async (text, values) => (await send(text, values)).rows,
      async (text, values) => (await send(text, values)).rowCount ?? 0,
    );
    isCommitting = true;
    await send('COMMIT');
    return value;
  } catch (error) {
    // A transaction that cannot be ended keeps its locks until the connection ends.
    if (isUsable) await send('ROLLBACK').catch(() => undefined);
    throw isCommitting ? orInDoubt(error) : error;
  } finally {
    client.release(!isUsable);
  }
};
