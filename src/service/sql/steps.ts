import type { SqlRow } from '../row-readers.ts';
import type { BulkStatement, Send } from './dialect.ts';

/**
 * Steps of one transaction. Yields the batches of a round trip and receives the rows of each. The same steps run synchronously
 * on SQLite and pipelined on PostgreSQL.
 */
export type Steps<T> = Generator<readonly BulkStatement[], T, SqlRow[][]>;

/** Runs steps on a synchronous connection. */
export const runSteps = <T>(steps: Steps<T>, send: Send<SqlRow[]>): T => {
  let step = steps.next();
  while (!step.done) step = steps.next(step.value.map(send));
  return step.value;
};

/**
 * Runs steps on an asynchronous connection. Waits for all responses of a round trip, also after an error, because a batch that
 * runs after the end of a transaction would be committed with the next transaction.
 */
export const runStepsLater = async <T>(steps: Steps<T>, send: Send<Promise<SqlRow[]>>): Promise<T> => {
  let step = steps.next();
  while (!step.done) {
    const answers = await Promise.allSettled(step.value.map(send));
    step = steps.next(
      answers.map((answer) => {
        if (answer.status === 'rejected') throw answer.reason;
        return answer.value;
      }),
    );
  }
  return step.value;
};
