export type SqlValue = string | number | null | Uint8Array;
export type SqlRow = Record<string, unknown>;
/** SQL statement. Its text is constant, because it is prepared once; values are parameters. */
export interface Statement {
  sql: string;
  values: SqlValue[];
}
/** Runs a statement with the values `$1`, `$2` …, and returns its rows once it is committed. */
export type RunSql<Result = Promise<SqlRow[]> | SqlRow[]> = (sql: string, values: SqlValue[]) => Result;
/** Runs statements in one transaction. Returns false and stores nothing if the first returns no row. */
export type RunTogether = (statements: readonly Statement[]) => Promise<boolean>;

export const readTextOrNull = (row: SqlRow, column: string): string | null => {
  const value = row[column];
  if (typeof value === 'string' || value === null) return value;
  throw new Error(`The column ${column} holds ${typeof value}, and not text`);
};

/** Returns the text of a column. Throws if it is NULL. */
export const readText = (row: SqlRow, column: string): string => {
  const text = readTextOrNull(row, column);
  if (text === null) throw new Error(`The column ${column} is NULL`);
  return text;
};

/** Returns the text of a column. Throws if it is not one of `values`. */
export const readEnum = <Word extends string>(row: SqlRow, column: string, values: readonly Word[]): Word => {
  const word = values.find((each) => each === row[column]);
  if (word === undefined) throw new Error(`The database holds no ${column} called ${row[column]}`);
  return word;
};

/** Returns a column as a number, because PostgreSQL's driver returns a `bigint` as text. */
export const readNumber = (row: SqlRow, column: string): number => Number(row[column]);
export const readNumberOrNull = (row: SqlRow, column: string): number | null =>
  row[column] === null ? null : Number(row[column]);

/** Returns a column as a Boolean, because SQLite's driver returns a number. */
export const readBoolean = (row: SqlRow, column: string): boolean =>
  row[column] === true || row[column] === 1;

/**
 * Parses a JSON column that this build has written as a `Value`; NULL is `null`. Both drivers return JSON as text, PostgreSQL's
 * because `connect.ts` configures it.
 */
export const readJson = <Value = unknown>(row: SqlRow, column: string): Value =>
  JSON.parse(readTextOrNull(row, column) ?? 'null');

/** Returns the bytes of a column. PostgreSQL's driver returns a view of a larger buffer; SQLite's returns only the bytes. */
export const readBytes = (row: SqlRow, column: string): Uint8Array<ArrayBuffer> => {
  const value = row[column];
  if (value instanceof Uint8Array) return new Uint8Array(value);
  throw new Error(`The column ${column} holds ${typeof value}, and not bytes`);
};
