import { type Column, formatColumnNames } from './columns.ts';
import type { BulkStatement, Dialect } from './dialect.ts';

/** Creates statements that write rows. In the SQL, `existing` is the row of the table. */
export const createWrites = ({ bulk }: Dialect) => {
  const insert = <T>(
    table: string,
    columns: readonly Column<T>[],
    more = '',
  ): ((rows: readonly T[]) => BulkStatement) =>
    bulk(
      columns,
      ({ source }) => `INSERT INTO ${table} AS existing (${formatColumnNames(columns)}) ${source}${more}`,
    );

  /** Upserts rows by key. Does not set the workspace, because setting it would write its indexes. */
  const upsert = <T>(
    table: string,
    columns: readonly Column<T>[],
    key: string,
    value: (column: string) => string = (column) => `excluded.${column}`,
  ) => {
    const fixed = ['workspace_id', ...key.split(', ')];
    const set = columns.filter(({ name }) => !fixed.includes(name));
    return insert(
      table,
      columns,
      ` ON CONFLICT (${key}) DO UPDATE SET ${set.map(({ name }) => `${name} = ${value(name)}`).join(', ')}`,
    );
  };

  /** Adds to the counters of rows with the same key, or inserts them. */
  const add = <T>(table: string, columns: readonly Column<T>[], key: string) =>
    upsert(table, columns, key, (column) => `existing.${column} + excluded.${column}`);

  return { insert, upsert, add };
};
