import { readBoolean, readEnum, readJson, readNumber, readText, type SqlRow } from '../row-readers.ts';
import { type Column, type ColumnType, type ColumnValue, readMs } from './columns.ts';

/** Column, and a field of the rows that are read from it and written to it. */
export interface Field<Value> {
  name: string;
  type: ColumnType;
  /** Type and constraint in `CREATE TABLE`, with the placeholders of `store/tables.ts`. */
  definition: string;
  read(row: SqlRow): Value;
}

/** Field with a value that the database assigns. */
export interface AssignedField extends Field<number> {
  isAssigned: true;
}

const defineField =
  <Value>(type: ColumnType, definition: string, read: (row: SqlRow, column: string) => Value) =>
  (name: string): Field<Value> => ({
    name,
    type,
    definition: `${definition} NOT NULL`,
    read: (row) => read(row, name),
  });

export const text = defineField('text', 'TEXT', readText);
export const bigint = defineField('bigint', 'INTEGER', readNumber);
export const int = defineField('int', 'INT', readNumber);
export const float = defineField('float8', 'FLOAT', readNumber);
export const boolean = defineField('boolean', 'BOOLEAN', readBoolean);
/** Parsed JSON. */
export const json = <Value>(name: string): Field<Value> => defineField('json', 'JSON', readJson<Value>)(name);
export const date = defineField('date', 'DAY', readText);
/** Time, in Unix milliseconds in rows. */
export const timestamp = defineField('timestamp', 'TIMESTAMP', readMs);
/** JSON that the caller parses. */
export const jsonText = defineField('json', 'JSON', readText);

export const enumText = <Word extends string>(name: string, words: readonly Word[]): Field<Word> => ({
  ...text(name),
  read: (row) => readEnum(row, name, words),
});

export const orNull = <Value>({ name, type, definition, read }: Field<Value>): Field<Value | null> => ({
  name,
  type,
  definition: definition.replace(' NOT NULL', ''),
  read: (row) => (row[name] === null ? null : read(row)),
});

/** Key that the writer assigns. */
export const primaryKey = (name: string): Field<number> => ({
  ...bigint(name),
  definition: 'INTEGER PRIMARY KEY',
});

/** Number that the database assigns, in commit order and never twice. */
export const eventId = (name: string): AssignedField => ({
  ...bigint(name),
  definition: 'EVENT_ID',
  isAssigned: true,
});

type Fields = Record<string, Field<unknown>>;
type ValueOf<F> = F extends Field<infer Value> ? Value : never;
type ValuesOf<F extends Fields> = { [Name in keyof F]: ValueOf<F[Name]> };
type NamesOf<F extends Fields, Kind> = {
  [Name in keyof F]: Kind extends 'assigned'
    ? F[Name] extends AssignedField
      ? Name
      : never
    : null extends ValueOf<F[Name]>
      ? Name
      : never;
}[keyof F];

/** Fields that are read and written together. */
export interface RowType<F extends Fields> {
  fields: F;
  columns: Column<ValuesOf<F>>[];
  /** Columns that an `INSERT` sets. A missing value is NULL. */
  insertedColumns: Column<
    Omit<ValuesOf<F>, NamesOf<F, 'assigned'> | NamesOf<F, 'nullable'>> &
      Partial<Pick<ValuesOf<F>, NamesOf<F, 'nullable'>>>
  >[];
  read(row: SqlRow): ValuesOf<F>;
}

/** Row as it is read. */
export type RowOf<T extends RowType<Fields>> = ReturnType<T['read']>;
/** Row to insert. */
export type NewRowOf<T extends RowType<Fields>> = T['insertedColumns'] extends Column<infer Row>[]
  ? Row
  : never;

export const defineRow = <F extends Fields>(fields: F): RowType<F> => {
  const entries = Object.entries(fields);
  const toColumn = ([field, { name, type }]: (typeof entries)[number]) => ({
    name,
    type,
    toValue: (row: object): ColumnValue => (row as Record<string, ColumnValue>)[field] ?? null,
  });
  return {
    fields,
    columns: entries.map(toColumn),
    insertedColumns: entries.filter(([, field]) => !('isAssigned' in field)).map(toColumn),
    read: (row) => {
      const values: Record<string, unknown> = {};
      for (const [field, { read }] of entries) values[field] = read(row);
      return values as ValuesOf<F>;
    },
  };
};

export interface Table<F extends Fields> extends RowType<F> {
  name: string;
  /** `CREATE TABLE` statement, with the placeholders of `store/tables.ts`. */
  definition: string;
}

/** Defines a table. `key` are the columns of its primary key, unless a field is the key. */
export const defineTable = <F extends Fields>(name: string, fields: F, key?: string): Table<F> => {
  const lines = Object.values(fields).map((field) => `${field.name} ${field.definition}`);
  if (key !== undefined) lines.push(`PRIMARY KEY (${key})`);
  return {
    ...defineRow(fields),
    name,
    definition: `CREATE TABLE ${name} (\n  ${lines.join(',\n  ')}\n)${key === undefined ? '' : ' WITHOUT ROWID'};\n`,
  };
};
