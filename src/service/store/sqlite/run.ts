import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RunSql } from '../../operators/index.ts';

/** Statements of the Studio on SQLite: `$1` is a name there, bound by it. */
export const createRunSqlite = (database: DatabaseSync): RunSql => {
  const prepared = new Map<string, StatementSync>();
  return async (sql, values) => {
    const statement = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, statement);
    return statement.all(Object.fromEntries(values.map((value, index) => [`$${index + 1}`, value])));
  };
};
