import { readNumber, type SqlRow, type SqlValue } from './row-readers.ts';

/** Type of a column. `timestamp` is a time, in Unix milliseconds in rows; `json` is an object or JSON text. */
export type ColumnType =
  | 'bigint'
  | 'int'
  | 'float8'
  | 'text'
  | 'boolean'
  | 'json'
  | 'timestamp'
  | 'date'
  | 'bytea';

export type ColumnValue = SqlValue | boolean | object;

/** Column of a table with its value for a row. The statements of both databases are built from columns. */
export interface Column<T> {
  name: string;
  type: ColumnType;
  toValue(row: T): ColumnValue;
}

export const formatColumnNames = (table: readonly { name: string }[]): string =>
  table.map(({ name }) => name).join(', ');

// Drivers return a time as Unix milliseconds, with a fraction on PostgreSQL.

export const readMs = (row: SqlRow, column: string): number => Math.round(readNumber(row, column));
export const readMsOrNull = (row: SqlRow, column: string): number | null =>
  row[column] === null ? null : readMs(row, column);
