import { QUARTER_HOUR_MS } from '../zoned-calendar.ts';
import { LOCKS } from './advisory-locks.ts';
import { type Column, type ColumnType, type ColumnValue, formatColumnNames } from './columns.ts';
import type { SqlValue } from './row-readers.ts';

/** Statement with the concatenated values of all its executions, because flat lists transfer to a thread fastest. */
export interface BulkStatement {
  sql: string;
  executions: number;
  values: SqlValue[];
  /** Number of rows written if no row has changed since it was read. */
  expectedRows?: number;
  /** The same statement for several executions at once. */
  combined?: { sql: string; executions: number };
}

/** Sends a statement. Statements on the same connection run in order. */
export type Send<Result> = (statement: BulkStatement) => Result;

/** Creates a statement that runs once. */
export const query = (sql: string, ...values: SqlValue[]): BulkStatement => ({ sql, executions: 1, values });

/** Rows of a bulk statement. */
interface JoinedParameters {
  /** Source of an `INSERT`. */
  source: string;
  /** Returns the clause that joins the rows to a table with this keyword; `''` if the values of one row are parameters. */
  joined(by: 'FROM' | 'USING' | ','): string;
  column(name: string): string;
}

type JoinedRows = Pick<JoinedParameters, 'joined' | 'column'> & {
  /** Returns the parameter with the further value at `index`. */
  extraParameter(index: number): string;
};

/** SQL that differs between the two databases, so that every statement is written once. */
export interface Dialect {
  /** Returns the SQL that converts a time to Unix milliseconds. */
  ms(time: string): string;
  /** Like `ms`, in a `RETURNING` clause, where a cluster allows only immutable functions. */
  returnedMs(time: string): string;
  /** Returns the SQL that converts Unix milliseconds to the database's type. */
  timestamp(ms: string): string;
  /** Returns the SQL that adds milliseconds to a time. */
  after(time: string, ms: string): string;
  /** Returns the SQL of the earlier of two times. */
  earlier(one: string, other: string): string;
  /** Returns the SQL of the start of a time's quarter hour, in Unix milliseconds. */
  quarterHour(time: string): string;
  /** Returns the condition that a column has one of the values of a list. `list` converts the list to a parameter. */
  isIn(column: string, parameter: string, type: 'text' | 'bigint'): string;
  list(values: readonly (string | number)[]): string;
  /** Returns the statement that reassigns all rows of user `$1` to user `$2`. Rows that `$2` already has may stay. */
  moveRows(table: string, columns: readonly { name: string }[]): string;
  /** Reuses plans for the rest of a transaction. Must follow joins with given rows, whose plans depend on the size of the tables. */
  reusePlans: readonly BulkStatement[];
  /** Takes a lock against retention, which must not delete rows that a statement moves. */
  lockMerges: readonly BulkStatement[];
  /** Updates the index that finds the events of a user. Must run before statements with `ofUser`. */
  indexUserEvents: readonly BulkStatement[];
  /** Returns the condition that a row of `events` belongs to a user, given a comparison such as `= $1`. */
  ofUser(condition: string): string;
  /** Suffix of an `INSERT` that skips rows inserted by another replica and returns a row for each written one. */
  onConflictDoNothing: string;
  /** Suffix of an `UPDATE` or `DELETE` that returns a row for each written one. */
  returningWritten: string;
  /** Creates a statement for many rows. */
  bulk<T>(
    columns: readonly Column<T>[],
    statement: (rows: JoinedParameters) => string,
  ): (rows: readonly T[]) => BulkStatement;
  /** Creates a query that joins a table with many rows. `more` are further parameters of the query. */
  bulkQuery<T>(
    columns: readonly Column<T>[],
    statement: (rows: JoinedRows) => string,
  ): (rows: readonly T[], ...more: SqlValue[]) => BulkStatement;
}

/** Converts Booleans to numbers and JSON to text. */
const sqliteValue = (value: ColumnValue): SqlValue => {
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
};

/** Number of rows of a combined `INSERT`. SQLite reads and writes the last `AUTOINCREMENT` number once for each statement. */
const COMBINED_ROWS = 16;

/** Runs a statement once per row, except an `INSERT`. */
export const SQLITE: Dialect = {
  ms: (time) => time,
  returnedMs: (time) => time,
  timestamp: (ms) => ms,
  after: (time, ms) => `${time} + ${ms}`,
  earlier: (one, other) => `min(${one}, ${other})`,
  // `%` has the sign of the dividend, so a simple subtraction would round times before 1970 up.
  quarterHour: (time) => `${time} - (${time} % ${QUARTER_HOUR_MS} + ${QUARTER_HOUR_MS}) % ${QUARTER_HOUR_MS}`,
  isIn: (column, parameter) => `${column} IN (SELECT value FROM json_each(${parameter}))`,
  list: (values) => JSON.stringify(values),
  moveRows: (table) => `UPDATE OR IGNORE ${table} SET user_id = $2 WHERE user_id = $1`,
  reusePlans: [],
  lockMerges: [],
  // Inserts in the order of users, so that a page is written once for all events of its users.
  indexUserEvents: [
    query(`INSERT INTO user_events (user_id, event_id) SELECT user_id, event_id FROM events
      WHERE event_id > (SELECT events FROM feed_cursors WHERE consumer = 'user_events') ORDER BY user_id, event_id`),
    query(
      `UPDATE feed_cursors SET events = max(events, (SELECT coalesce(max(event_id), 0) FROM events)) WHERE consumer = 'user_events'`,
    ),
  ],
  ofUser: (condition) => `events.event_id IN (SELECT event_id FROM user_events WHERE user_id ${condition})`,
  // No suffix is needed, because only one process writes users and SQLite reports the number of changed rows.
  onConflictDoNothing: '',
  returningWritten: '',
  bulk: (columns, statement) => {
    const parameter = (index: number) => `$${index + 1}`;
    const formatSql = (rows: number) => {
      const tuples = Array.from(
        { length: rows },
        (_, row) => `(${columns.map((_, index) => parameter(row * columns.length + index)).join(', ')})`,
      );
      return statement({
        source: `VALUES ${tuples.join(', ')}`,
        joined: () => '',
        column: (name) => parameter(columns.findIndex((each) => each.name === name)),
      });
    };
    const sql = formatSql(1);
    const combined = { sql: formatSql(COMBINED_ROWS), executions: COMBINED_ROWS };
    const isInsert = combined.sql !== sql;
    return (rows) => {
      const values: SqlValue[] = [];
      for (const row of rows) for (const { toValue } of columns) values.push(sqliteValue(toValue(row)));
      return { sql, executions: rows.length, values, ...(isInsert && { combined }) };
    };
  },
  // Sends all rows as one JSON text, because running a query once per row takes twice as long.
  bulkQuery: (columns, statement) => {
    const given = columns.map(({ name }, index) => `value ->> ${index} AS ${name}`).join(', ');
    const sql = statement({
      joined: (by) => `${by} (SELECT ${given} FROM json_each($1)) AS sent`,
      column: (name) => `sent.${name}`,
      extraParameter: (index) => `$${index + 2}`,
    });
    return (rows, ...more) => {
      const given = rows.map((row) => columns.map(({ toValue }) => toValue(row)));
      return { sql, executions: Math.min(rows.length, 1), values: [JSON.stringify(given), ...more] };
    };
  },
};

/** Formats a list as a PostgreSQL array. */
const toArrayLiteral = (values: readonly unknown[]): string =>
  `{${values.map((value) => (value === null ? 'NULL' : `"${String(value).replace(/["\\]/g, '\\$&')}"`)).join(',')}}`;

/** Object IDs of the types whose arrays are sent. Numbers are sent as `float8`, which holds every safe integer. */
const ELEMENT_TYPES = { float8: 701, json: 114, text: 25 };

const toElementType = (type: ColumnType): keyof typeof ELEMENT_TYPES => {
  if (type === 'json') return 'json';
  return type === 'bigint' || type === 'int' || type === 'float8' || type === 'timestamp' ? 'float8' : 'text';
};

const ARRAY_HEADER_BYTES = 20;
const FLOAT_BYTES = 8;

/** Formats a column as an array in PostgreSQL's binary format. The server would take longer to parse text. */
const toBinaryArray = (elementType: keyof typeof ELEMENT_TYPES, values: readonly unknown[]): Buffer => {
  const isFloat = elementType === 'float8';
  const elements = values.map((value) => {
    if (value === null) return null;
    if (isFloat) return Number(value);
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  });
  let length = ARRAY_HEADER_BYTES;
  for (const each of elements)
    length += 4 + (each === null ? 0 : typeof each === 'number' ? FLOAT_BYTES : Buffer.byteLength(each));
  const buffer = Buffer.allocUnsafe(length);
  // Dimensions, whether NULL occurs, type, number of elements, first index.
  let at = 0;
  for (const field of [1, 1, ELEMENT_TYPES[elementType], elements.length, 1])
    at = buffer.writeInt32BE(field, at);
  for (const each of elements) {
    let size = -1;
    if (typeof each === 'number') size = buffer.writeDoubleBE(each, at + 4) - at - 4;
    else if (each !== null) size = buffer.write(each, at + 4);
    at = buffer.writeInt32BE(size, at) + Math.max(size, 0);
  }
  return buffer;
};

/** Returns the SQL of a column from a parameter. With a sub-select, the planner does not count the rows of the parameter. */
const unpack = (type: ColumnType, parameter: string): string => {
  const elementType = toElementType(type);
  const sent = `(SELECT ${parameter}::${elementType}[])`;
  return type === elementType || type === 'timestamp' ? sent : `${sent}::${type}[]`;
};

/** Creates a statement that runs once for all rows. Each parameter contains a column. */
const bulkPostgres = <T>(
  columns: readonly Column<T>[],
  statement: (rows: JoinedParameters & JoinedRows) => string,
): ((rows: readonly T[], ...more: SqlValue[]) => BulkStatement) => {
  const selected = columns.map(({ name, type }) =>
    type === 'timestamp' ? `${POSTGRES.timestamp(name)} AS ${name}` : name,
  );
  const lists = columns.map(({ type }, index) => unpack(type, `$${index + 1}`));
  const sent = `(SELECT ${selected.join(', ')} FROM unnest(${lists.join(', ')}) AS given(${formatColumnNames(columns)})) AS sent`;
  const sql = statement({
    source: `SELECT * FROM ${sent} WHERE true`,
    joined: (by) => `${by} ${sent}`,
    column: (name) => `sent.${name}`,
    extraParameter: (index) => `$${columns.length + index + 1}`,
  });
  return (rows, ...more) => {
    if (rows.length === 0) return { sql, executions: 0, values: [] };
    const values = columns.map(({ type, toValue }) => toBinaryArray(toElementType(type), rows.map(toValue)));
    return { sql, executions: 1, values: [...values, ...more] };
  };
};

export const POSTGRES: Dialect = {
  // Double precision keeps all microseconds; `numeric` takes several times as long.
  ms: (time) => `date_part('epoch', ${time}) * 1000`,
  returnedMs: (time) => `date_part('epoch', ${time} - to_timestamp(0)) * 1000`,
  timestamp: (ms) => `to_timestamp(${ms}::float8 / 1000)`,
  after: (time, ms) => `${time} + ${ms} * interval '1 millisecond'`,
  earlier: (one, other) => `least(${one}, ${other})`,
  quarterHour: (time) =>
    `floor(date_part('epoch', ${time}) * 1000 / ${QUARTER_HOUR_MS}) * ${QUARTER_HOUR_MS}`,
  isIn: (column, parameter, type) => `${column} = ANY(${parameter}::${type}[])`,
  list: toArrayLiteral,
  // Inserts instead of updates, because a row cannot change its shard.
  moveRows: (table, columns) => {
    const others = formatColumnNames(columns.filter(({ name }) => name !== 'user_id'));
    return `INSERT INTO ${table} (user_id, ${others}) OVERRIDING SYSTEM VALUE
      SELECT $2::bigint, ${others} FROM ${table} WHERE user_id = $1::bigint ON CONFLICT DO NOTHING`;
  },
  reusePlans: [query('SET LOCAL plan_cache_mode = auto')],
  lockMerges: [query(`SELECT pg_advisory_xact_lock_shared(${LOCKS.merges})`)],
  indexUserEvents: [],
  ofUser: (condition) => `events.user_id ${condition}`,
  // Returns rows, because the row count of a cluster includes existing rows.
  onConflictDoNothing: ' ON CONFLICT DO NOTHING RETURNING 1',
  returningWritten: ' RETURNING 1',
  bulk: (columns, statement) => bulkPostgres(columns, statement),
  bulkQuery: (columns, statement) => bulkPostgres(columns, statement),
};

/** Returns a select list of columns of a table, with times as Unix milliseconds. */
export const selectList = (
  { ms }: Pick<Dialect, 'ms'>,
  columns: readonly Pick<Column<never>, 'name' | 'type'>[],
  table?: string,
): string =>
  columns
    .map(({ name, type }) => {
      const column = table === undefined ? name : `${table}.${name}`;
      return type === 'timestamp' ? `${ms(column)} AS ${name}` : column;
    })
    .join(', ');
