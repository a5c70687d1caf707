import type { SqlValue } from '../operators/index.ts';
import { type Column, type ColumnType, type ColumnValue, namesOf } from './columns.ts';

/** A statement with the values of all its runs, one after the other: plain lists cross to a thread fastest. */
export interface BulkStatement {
  sql: string;
  times: number;
  values: SqlValue[];
  /** Rows that it writes, where they still are as they were read. */
  expects?: number;
}

/** Sends a batch. Those that one connection sends run in their order. */
export type Send<Answer> = (batch: BulkStatement) => Answer;

/** A statement that runs once. */
export const query = (sql: string, ...values: SqlValue[]): BulkStatement => ({ sql, times: 1, values });

/** How a statement gets at the rows that it runs for. */
interface SentRows {
  /** What `INSERT` reads. */
  source: string;
  /** Joins them to a table by this word; nothing where the values of one row are parameters. */
  joined(by: 'FROM' | 'USING' | ','): string;
  column(name: string): string;
}

/** What the two databases write differently, so that every statement stands once. */
export interface Dialect {
  /** A time in Unix milliseconds. */
  ms(time: string): string;
  /** Unix milliseconds, as the database has times. */
  moment(ms: string): string;
  /** So many milliseconds after a time. */
  after(time: string, ms: string): string;
  /** The earlier of two times. */
  earlier(one: string, other: string): string;
  /** Whether a column has one of the values of a list, which `list` makes a parameter of. */
  isIn(column: string, parameter: string, type: 'text' | 'bigint'): string;
  list(values: readonly (string | number)[]): string;
  /** Makes all rows of user `$1` in a table those of user `$2`; one that they have already may stay behind. */
  move(table: string, columns: readonly Column<never>[]): string;
  /** Brings what finds the events of a user up to date. Precedes statements with `ofUser`. */
  indexEvents: readonly BulkStatement[];
  /** Whether a row of `events` is of a user, such as `= $1`. */
  ofUser(condition: string): string;
  /** Behind an `INSERT`: a row that another replica has inserted is left, and each that is written answers a row. */
  onConflictDoNothing: string;
  /** Behind an `UPDATE` or `DELETE`: each row that is written answers a row. */
  written: string;
  /** Makes a statement that runs for many rows. */
  bulk<T>(
    columns: readonly Column<T>[],
    statement: (rows: SentRows) => string,
  ): (rows: readonly T[]) => BulkStatement;
}

/** What a row has in a column: a boolean is a number, JSON is text. */
const sqliteValue = (value: ColumnValue): SqlValue => {
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
};

/** A statement runs once for each row: several rows in one are slower, as each of its values is bound by itself all the same. */
export const SQLITE: Dialect = {
  ms: (time) => time,
  moment: (ms) => ms,
  after: (time, ms) => `${time} + ${ms}`,
  earlier: (one, other) => `min(${one}, ${other})`,
  isIn: (column, parameter) => `${column} IN (SELECT value FROM json_each(${parameter}))`,
  list: (values) => JSON.stringify(values),
  move: (table) => `UPDATE OR IGNORE ${table} SET user_id = $2 WHERE user_id = $1`,
  // In the order of users: a page is written once for all events of its users.
  indexEvents: [
    query(`INSERT INTO user_events SELECT user_id, event_id FROM events
      WHERE event_id > (SELECT events FROM feed_cursors WHERE consumer = 'user_events') ORDER BY user_id, event_id`),
    query(
      `UPDATE feed_cursors SET events = max(events, (SELECT coalesce(max(event_id), 0) FROM events)) WHERE consumer = 'user_events'`,
    ),
  ],
  ofUser: (condition) => `events.event_id IN (SELECT event_id FROM user_events WHERE user_id ${condition})`,
  // One process writes the file, and is told how many rows a statement has changed.
  onConflictDoNothing: '',
  written: '',
  bulk: (columns, statement) => {
    const parameter = (index: number) => `?${index + 1}`;
    const sql = statement({
      source: `VALUES (${columns.map((_, index) => parameter(index)).join(', ')})`,
      joined: () => '',
      column: (name) => parameter(columns.findIndex((each) => each.name === name)),
    });
    return (rows) => {
      const values: SqlValue[] = [];
      for (const row of rows) for (const { of } of columns) values.push(sqliteValue(of(row)));
      return { sql, times: rows.length, values };
    };
  },
};

/** Parts values that are sent as one parameter: neither a number nor JSON has it. */
const SEPARATOR = '\u001e';

/** A column of all but texts as one text, NULL as an empty one: a tenth of what an array parameter costs to write. */
const packed = (values: readonly unknown[]): string =>
  values.map((value) => (value && typeof value === 'object' ? JSON.stringify(value) : value)).join(SEPARATOR);

/** A column of texts as PostgreSQL writes an array. */
const quoted = (values: readonly unknown[]): string =>
  `{${values.map((value) => (value === null ? 'NULL' : `"${String(value).replace(/["\\]/g, '\\$&')}"`)).join(',')}}`;

/** A column that a parameter holds: in a sub-select, as the planner would read it whole to count its rows, a fifth of the time. */
const unpacked = (type: ColumnType, parameter: string): string =>
  type === 'text'
    ? `(SELECT ${parameter}::text[])`
    : `string_to_array((SELECT ${parameter}), E'\\x1e', '')::${type === 'moment' ? 'float8' : type}[]`;

export const POSTGRES: Dialect = {
  // In floating point, which has all microseconds: `numeric` takes several times as long.
  ms: (time) => `date_part('epoch', ${time}) * 1000`,
  moment: (ms) => `to_timestamp(${ms}::float8 / 1000)`,
  after: (time, ms) => `${time} + ${ms} * interval '1 millisecond'`,
  earlier: (one, other) => `least(${one}, ${other})`,
  isIn: (column, parameter, type) => `${column} = ANY(${parameter}::${type}[])`,
  list: quoted,
  // Added, not updated: a row cannot leave its shard.
  move: (table, columns) => {
    const others = namesOf(columns.filter(({ name }) => name !== 'user_id'));
    return `INSERT INTO ${table} (user_id, ${others}) OVERRIDING SYSTEM VALUE
      SELECT $2::bigint, ${others} FROM ${table} WHERE user_id = $1::bigint ON CONFLICT DO NOTHING`;
  },
  indexEvents: [],
  ofUser: (condition) => `events.user_id ${condition}`,
  // A cluster's own count of inserted rows has those that were there as well.
  onConflictDoNothing: ' ON CONFLICT DO NOTHING RETURNING 1',
  written: ' RETURNING 1',
  /** One run has all rows: each parameter holds a column. */
  bulk: (columns, statement) => {
    const selected = columns.map(({ name, type }) =>
      type === 'moment' ? `${POSTGRES.moment(name)} AS ${name}` : name,
    );
    const lists = columns.map(({ type }, index) => unpacked(type, `$${index + 1}`));
    const sent = `(SELECT ${selected.join(', ')} FROM unnest(${lists.join(', ')}) AS given(${namesOf(columns)})) AS sent`;
    const sql = statement({
      source: `SELECT * FROM ${sent} WHERE true`,
      joined: (by) => `${by} ${sent}`,
      column: (name) => `sent.${name}`,
    });
    return (rows) => {
      if (rows.length === 0) return { sql, times: 0, values: [] };
      const values = columns.map(({ type, of }) => (type === 'text' ? quoted : packed)(rows.map(of)));
      return { sql, times: 1, values };
    };
  },
};

/** Columns of a table as they are read: times as Unix milliseconds. */
export const selected = <T>({ ms }: Dialect, columns: readonly Column<T>[]): string =>
  columns.map(({ name, type }) => (type === 'moment' ? `${ms(name)} AS ${name}` : name)).join(', ');
