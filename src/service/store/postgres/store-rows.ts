import type { Sql, TransactionSql } from 'postgres';
import type { UserRows } from './user-rows.ts';
import { columns, DELETE_KEYS, DELETE_USERS, INSERT_KEYS, INSERT_USERS, STORE } from './user-statements.ts';

/** Stores what nearly every batch has, in one statement. */
export const storeUsual = (
  sql: Sql | TransactionSql,
  { updates, events, points, version }: UserRows,
): Promise<unknown> => {
  const texts = [
    ...columns(updates, 4),
    ...columns(events, 5),
    ...columns(points, 4),
    String(updates.length),
    version,
  ];
  return sql.unsafe(STORE, texts, { prepare: true }).execute();
};

/** Sends everything that is to be stored; the caller commits. */
export const sendRows = (transaction: TransactionSql, rows: UserRows): Promise<unknown>[] => {
  const sent = [storeUsual(transaction, rows)];
  const run = (statement: string, list: string[][], count: number, ...more: string[]) => {
    if (list.length === 0) return;
    sent.push(transaction.unsafe(statement, [...columns(list, count), ...more], { prepare: true }).execute());
  };
  run(DELETE_USERS, rows.deletes, 2);
  run(INSERT_USERS, rows.inserts, 3, rows.version);
  run(DELETE_KEYS, rows.keysRemoved, 3);
  run(INSERT_KEYS, rows.keysAdded, 3);
  return sent;
};

/** True where one statement stores everything. */
export const isUsual = ({ inserts, deletes, keysAdded, keysRemoved }: UserRows): boolean =>
  inserts.length + deletes.length + keysAdded.length + keysRemoved.length === 0;
