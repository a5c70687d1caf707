import { DatabaseError, type Pool } from 'pg';
import { verdictOf } from '../error-codes.ts';
import { InDoubtError } from '../write-errors.ts';
import { type Run, runOn } from './statement.ts';
import { isUsableAfter, takeConnection } from './take-connection.ts';

/** Without an answer to COMMIT it is not known what is stored. A COMMIT that the server refused has stored nothing. */
const orInDoubt = (error: unknown): unknown =>
  error instanceof DatabaseError && verdictOf(error) !== 'in doubt'
    ? error
    : new InDoubtError('The database did not answer: what it stored is not known', { cause: error });

/** Runs a transaction, and resolves once it is committed. `work` has waited for all that it has sent. */
export const inTransaction = async <T>(
  pool: Pool,
  work: (run: Run) => Promise<T>,
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
    await run(begin);
    const value = await work(run);
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
