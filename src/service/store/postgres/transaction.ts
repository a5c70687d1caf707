import type { Sql, TransactionSql } from 'postgres';

/**
 * Runs a transaction that ends with the statements that `work` has sent: the commit follows them at once, so that
 * locks are held no longer than the database takes. Resolves once it is committed.
 */
export const inTransaction = <T>(
  sql: Sql,
  work: (transaction: TransactionSql) => Promise<{ sent: Promise<unknown>[]; value: T }>,
): Promise<T> =>
  new Promise((resolve, reject) => {
    sql
      .begin(async (transaction) => {
        const { sent, value } = await work(transaction);
        // The driver ends a transaction itself, once it has heard of all statements: it gets another one to end.
        await Promise.all([...sent, transaction.unsafe('COMMIT AND CHAIN')]);
        resolve(value);
      })
      .catch(reject);
  });
