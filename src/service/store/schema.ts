import { TABLES_BY_DATABASE } from './tables.ts';

/** Number of the schema in `tables.ts`. */
export const SCHEMA = 1;

/** Column names by table. */
export type TableColumns = Map<string, Set<string>>;

type Database = keyof typeof TABLES_BY_DATABASE;

export const tableNames = (database: Database): string[] =>
  TABLES_BY_DATABASE[database].map(({ name }) => name);

/** Returns the first difference between the columns of a database and the columns of this build; `null` if none. */
const findDifference = (database: Database, found: TableColumns): string | null => {
  for (const { name, columns } of TABLES_BY_DATABASE[database]) {
    const existing = found.get(name);
    if (!existing) return `has no table '${name}'`;
    const expected = new Set(columns.map((column) => column.name));
    for (const column of expected) if (!existing.has(column)) return `has no column '${name}.${column}'`;
    for (const column of existing)
      if (!expected.has(column)) return `has a column '${name}.${column}' that this build does not know`;
  }
  return null;
};

/** Throws if the tables do not match this build. `number` is the schema number of the database; `null` if none. */
export const checkSchema = (
  database: string,
  number: number | null,
  kind: Database,
  found: TableColumns,
): void => {
  if (number === null) throw new Error(`${database} holds no Placard data`);
  const difference =
    number === SCHEMA ? findDifference(kind, found) : `has schema ${number}, and this build ${SCHEMA}`;
  if (difference === null) return;
  throw new Error(
    `${database} was written by another build of Placard (it ${difference}): export the data with that build, and import them into a new database`,
  );
};
