export type SqlValue = string | number | null;
export type SqlRow = Record<string, unknown>;
/** A statement of a constant text. */
export interface Statement {
  sql: string;
  values: SqlValue[];
}
/** Runs one statement, whose values are `$1`, `$2` …, and returns its rows once it is stored. */
export type RunSql<Answer = Promise<SqlRow[]> | SqlRow[]> = (sql: string, values: SqlValue[]) => Answer;

export const textIn = (row: SqlRow, column: string): string => row[column] as string;

/** PostgreSQL's driver gives a `bigint` as text. */
export const numberIn = (row: SqlRow, column: string): number => Number(row[column]);

/** PostgreSQL's driver parses JSON, SQLite's does not. */
export const jsonIn = (row: SqlRow, column: string): unknown => {
  const value = row[column];
  return typeof value === 'string' ? JSON.parse(value) : value;
};
