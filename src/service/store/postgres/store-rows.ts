import type { Run } from './statement.ts';
import type { UserRows } from './user-rows.ts';
import { columns, DELETE_KEYS, DELETE_USERS, INSERT_KEYS, INSERT_USERS, STORE } from './user-statements.ts';

/** Stores what nearly every batch has, in one statement. */
export const storeUsual = (run: Run, { updates, events, points, version }: UserRows): Promise<unknown> => {
  const texts = [
    ...columns(updates, 4),
    ...columns(events, 5),
    ...columns(points, 4),
    String(updates.length),
    version,
  ];
  return run(STORE, texts);
};

/** Sends everything that is to be stored, in a transaction that waits for it. */
export const sendRows = (run: Run, rows: UserRows): void => {
  const send = (statement: string, list: string[][], count: number, ...more: string[]) => {
    if (list.length > 0) void run(statement, [...columns(list, count), ...more]);
  };
  void storeUsual(run, rows);
  send(DELETE_USERS, rows.deletes, 2);
  send(INSERT_USERS, rows.inserts, 3, rows.version);
  send(DELETE_KEYS, rows.keysRemoved, 3);
  send(INSERT_KEYS, rows.keysAdded, 3);
};

/** True where one statement stores everything. */
export const isUsual = ({ inserts, deletes, keysAdded, keysRemoved }: UserRows): boolean =>
  inserts.length + deletes.length + keysAdded.length + keysRemoved.length === 0;
