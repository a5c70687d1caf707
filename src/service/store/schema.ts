import { POSTGRES_TABLES, SQLITE_TABLES } from './tables.ts';

/** Number of the schema in `tables.ts`. */
export const SCHEMA = 1;

/** Column names by table. */
export type TableColumns = Map<string, Set<string>>;

const parseColumns = (tables: string): TableColumns =>
  new Map(
    [...tables.matchAll(/CREATE (?:UNLOGGED )?TABLE (\w+) \(\n(.*?)\n\)/gs)].map(([, table, body]) => [
      table!,
      new Set([...body!.matchAll(/^ {2}([a-z]\w*) /gm)].map(([, column]) => column!)),
    ]),
  );

const EXPECTED = { sqlite: parseColumns(SQLITE_TABLES), postgres: parseColumns(POSTGRES_TABLES) };

export const tableNames = (database: keyof typeof EXPECTED): string[] => [...EXPECTED[database].keys()];

/** Returns the first difference between the columns of a database and the columns of this build; `null` if none. */
const findDifference = (expected: TableColumns, found: TableColumns): string | null => {
  for (const [table, columns] of expected) {
    const existing = found.get(table);
    if (!existing) return `has no table '${table}'`;
    for (const column of columns) if (!existing.has(column)) return `has no column '${table}.${column}'`;
    for (const column of existing)
      if (!columns.has(column)) return `has a column '${table}.${column}' that this build does not know`;
  }
  return null;
};

/** Throws if the tables do not match this build. `number` is the schema number of the database; `null` if none. */
export const checkSchema = (
  database: string,
  number: number | null,
  kind: keyof typeof EXPECTED,
  found: TableColumns,
): void => {
  if (number === null) throw new Error(`${database} holds no Placard data`);
  const difference =
    number === SCHEMA
      ? findDifference(EXPECTED[kind], found)
      : `has schema ${number}, and this build ${SCHEMA}`;
  if (difference === null) return;
  throw new Error(
    `${database} was written by another build of Placard (it ${difference}): export the data with that build, and import them into a new database`,
  );
};
