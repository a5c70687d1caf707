import { type Column, type ColumnType, type ColumnValue, readMs } from './columns.ts';
import {
  readBoolean,
  readBytes,
  readEnum,
  readJson,
  readNumber,
  readText,
  type SqlRow,
} from './row-readers.ts';

/** Column, and a field of the rows that are read from it and written to it. */
export interface Field<Value> {
  name: string;
  type: ColumnType;
  /** Type and constraint in `CREATE TABLE`, with the placeholders of `store/tables.ts`. */
  definition: string;
  read(row: SqlRow): Value;
  /** Converts a value to its stored form. */
  write(value: Value): ColumnValue;
}

/** Field with a value that the database assigns. */
export interface AssignedField extends Field<number> {
  isAssigned: true;
}

const defineField =
  <Value extends ColumnValue>(
    type: ColumnType,
    definition: string,
    read: (row: SqlRow, column: string) => Value,
  ) =>
  (name: string): Field<Value> => ({
    name,
    type,
    definition: `${definition} NOT NULL`,
    read: (row) => read(row, name),
    write: (value) => value,
  });

export const text = defineField('text', 'TEXT', readText);
export const bigint = defineField('bigint', 'INTEGER', readNumber);
export const int = defineField('int', 'INT', readNumber);
export const float = defineField('float8', 'FLOAT', readNumber);
export const boolean = defineField('boolean', 'BOOLEAN', readBoolean);
/** Parsed JSON. */
export const json = <Value extends object>(name: string): Field<Value> =>
  defineField('json', 'JSON', readJson<Value>)(name);
export const date = defineField('date', 'DAY', readText);
/** Time, in Unix milliseconds in rows. */
export const timestamp = defineField('timestamp', 'TIMESTAMP', readMs);
export const bytes = defineField('bytea', 'BYTES', readBytes);
/** JSON that the caller parses. */
export const jsonText = defineField('json', 'JSON', readText);

export const enumText = <Word extends string>(name: string, words: readonly Word[]): Field<Word> => ({
  ...text(name),
  read: (row) => readEnum(row, name, words),
});

export const orNull = <Value>({ read, write, ...field }: Field<Value>): Field<Value | null> => ({
  ...field,
  definition: field.definition.replace(' NOT NULL', ''),
  read: (row) => (row[field.name] === null ? null : read(row)),
  write: (value) => (value === null ? null : write(value)),
});

/** Field that an `INSERT` may omit. `value` is SQL. */
export const withDefault = <Value>(field: Field<Value>, value: string): Field<Value> => ({
  ...field,
  definition: `${field.definition} DEFAULT ${value}`,
});

/** Field whose value is converted when it is read and written. */
export const converted = <Stored extends ColumnValue, Value>(
  { read, write: _, ...field }: Field<Stored>,
  parse: (stored: Stored) => Value,
  format: (value: Value) => Stored,
): Field<Value> => ({ ...field, read: (row) => parse(read(row)), write: format });

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
  const toColumn = ([key, field]: (typeof entries)[number]): Column<Record<string, unknown>> => ({
    name: field.name,
    type: field.type,
    toValue: (row) => field.write(row[key] ?? null),
  });
  return {
    fields,
    columns: entries.map(toColumn),
    insertedColumns: entries.filter(([, field]) => !('isAssigned' in field)).map(toColumn),
    read: (row) => {
      const values: Record<string, unknown> = {};
      for (const [key, field] of entries) values[key] = field.read(row);
      return values as ValuesOf<F>;
    },
  };
};

/** Defines a row with some fields of another. */
export const pickFields = <F extends Fields, Name extends keyof F & string>(
  { fields }: Pick<RowType<F>, 'fields'>,
  names: readonly Name[],
): RowType<Pick<F, Name>> =>
  defineRow(Object.fromEntries(names.map((name) => [name, fields[name]])) as Pick<F, Name>);

export interface Table<F extends Fields> extends RowType<F> {
  name: string;
  /** `CREATE` statements of the table and its indexes, with the placeholders of `store/tables.ts`. */
  definition: string;
  /** Columns of the primary key, such as `workspace_id, day`; `''` if a field is the key. */
  key: string;
  /** Column by whose value a cluster distributes the rows; `null` if they are on the coordinator. */
  distributedBy: string | null;
}

interface TableOptions {
  /** Columns of the primary key. Default: a field is the key. */
  key?: string;
  /** Whether PostgreSQL writes no log of the table, so that it is empty after a crash. Default: false. */
  isUnlogged?: boolean;
  /** Whether rows may exceed some hundred bytes, so that SQLite stores them outside the index of their key. Default: false. */
  hasLargeRows?: boolean;
  /** Column by whose value a cluster distributes the rows. Default: they are on the coordinator. */
  distributedBy?: string;
  /** Further statements, for example `CREATE INDEX`. */
  indexes?: string;
}

export const defineTable = <F extends Fields>(
  name: string,
  fields: F,
  { key = '', isUnlogged = false, hasLargeRows = false, distributedBy, indexes = '' }: TableOptions = {},
): Table<F> => {
  const lines = Object.values(fields).map((field) => `${field.name} ${field.definition}`);
  if (key !== '') lines.push(`PRIMARY KEY (${key})`);
  const storage = key === '' || hasLargeRows ? '' : ' WITHOUT ROWID';
  return {
    ...defineRow(fields),
    name,
    key,
    distributedBy: distributedBy ?? null,
    definition: `CREATE ${isUnlogged ? 'UNLOGGED ' : ''}TABLE ${name} (\n  ${lines.join(',\n  ')}\n)${storage};\n${indexes}`,
  };
};
