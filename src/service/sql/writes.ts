import { type Column, type ColumnValue, formatColumnNames } from './columns.ts';
import type { BulkStatement, Dialect } from './dialect.ts';
import type { SqlValue, Statement } from './row-readers.ts';

// In the SQL, `existing` is the row of the table.

const formatInsert = (table: string, columns: readonly Column<never>[], source: string): string =>
  `INSERT INTO ${table} AS existing (${formatColumnNames(columns)}) ${source}`;

/** Returns the clause that updates rows by key. Does not set the workspace, because setting it would write its indexes. */
const formatUpdate = (
  { insertedColumns, key }: WrittenTable<never>,
  toValue = (column: string): string => `excluded.${column}`,
): string => {
  const fixed = ['workspace_id', ...key.split(', ')];
  const set = insertedColumns.filter(({ name }) => !fixed.includes(name));
  return ` ON CONFLICT (${key}) DO UPDATE SET ${set.map(({ name }) => `${name} = ${toValue(name)}`).join(', ')}`;
};

interface WrittenTable<T> {
  name: string;
  insertedColumns: readonly Column<T>[];
  key: string;
}

/** Creates statements that write many rows to one of the databases. */
export const createWrites = ({ bulk }: Dialect) => {
  const insert = <T>(
    { name, insertedColumns: columns }: WrittenTable<T>,
    more = '',
  ): ((rows: readonly T[]) => BulkStatement) =>
    bulk(columns, ({ source }) => formatInsert(name, columns, source) + more);

  const upsert = <T>(table: WrittenTable<T>) => insert(table, formatUpdate(table));

  /** Adds to the counters of rows with the same key, or inserts them. */
  const add = <T>(table: WrittenTable<T>) =>
    insert(
      table,
      formatUpdate(table, (column) => `existing.${column} + excluded.${column}`),
    );

  return { insert, upsert, add };
};

const toSqlValue = (value: ColumnValue): SqlValue => {
  if (typeof value === 'boolean') throw new Error('A Boolean has no value that both databases accept');
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array)
    ? JSON.stringify(value)
    : value;
};

/** Creates a statement that inserts one row, for either database. */
export const createInsert = <T>(
  { name, insertedColumns: columns }: WrittenTable<T>,
  more = '',
): ((row: T) => Statement) => {
  const parameters = columns.map((_, index) => `$${index + 1}`);
  const sql = formatInsert(name, columns, `VALUES (${parameters.join(', ')})`) + more;
  return (row) => ({ sql, values: columns.map(({ toValue }) => toSqlValue(toValue(row))) });
};

/** Creates a statement that inserts one row or updates it by key, for either database. */
export const createUpsert = <T>(table: WrittenTable<T>): ((row: T) => Statement) =>
  createInsert(table, formatUpdate(table));
