import type { BulkStatement, Send } from './dialect.ts';
import type { SqlRow } from './row-readers.ts';

/**
 * Statements of one transaction. Yields those of a round trip and receives the rows of each. The same generator runs synchronously
 * on SQLite and pipelined on PostgreSQL.
 */
export type SqlSteps<T> = Generator<readonly BulkStatement[], T, SqlRow[][]>;

/** Runs steps on a synchronous connection. */
export const runStepsSync = <T>(steps: SqlSteps<T>, send: Send<SqlRow[]>): T => {
  let step = steps.next();
  while (!step.done) step = steps.next(step.value.map(send));
  return step.value;
};

/**
 * Runs steps on an asynchronous connection. Waits for all responses of a round trip, also after an error, because a statement that
 * runs after the end of a transaction would be committed with the next transaction.
 */
export const runStepsAsync = async <T>(steps: SqlSteps<T>, send: Send<Promise<SqlRow[]>>): Promise<T> => {
  let step = steps.next();
  while (!step.done) {
    const responses = await Promise.allSettled(step.value.map(send));
    step = steps.next(
      responses.map((response) => {
        if (response.status === 'rejected') throw response.reason;
        return response.value;
      }),
    );
  }
  return step.value;
};
