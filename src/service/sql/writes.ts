import { type Column, namesOf } from './columns.ts';
import type { BulkStatement, Dialect } from './dialect.ts';

/** Makes the statements that write rows; the table's own row is `known` in them. */
export const createWrites = ({ bulk }: Dialect) => {
  const insert = <T>(
    table: string,
    columns: readonly Column<T>[],
    more = '',
  ): ((rows: readonly T[]) => BulkStatement) =>
    bulk(columns, ({ source }) => `INSERT INTO ${table} AS known (${namesOf(columns)}) ${source}${more}`);

  /** Writes rows in place of those with the same key. The workspace stays: to set it writes its indexes. */
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

  /** Adds to rows with the same key. */
  const add = <T>(table: string, columns: readonly Column<T>[], key: string) =>
    upsert(table, columns, key, (column) => `known.${column} + excluded.${column}`);

  return { insert, upsert, add };
};
