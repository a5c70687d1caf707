import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Row } from '../from-row.ts';

/** Runs statements on SQLite: `$1` is a name there, bound by it. */
export const createRunSqlite = (database: DatabaseSync) => {
  const prepared = new Map<string, StatementSync>();
  return (sql: string, values: readonly SQLInputValue[]): Row[] => {
    const statement = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, statement);
    return statement.all(Object.fromEntries(values.map((value, index) => [`$${index + 1}`, value])));
  };
};
