import { closeSync, existsSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { getErrorMessage } from '../../log.ts';
import { FEED_CURSORS, NEW_CURSOR } from '../../results/tables.ts';
import { query, type Send } from '../../sql/dialect.ts';
import type { RunSql, SqlRow, SqlValue, Statement } from '../../sql/row-readers.ts';
import { USER_EVENTS } from '../../sql/user-tables.ts';
import { createInsert } from '../../sql/writes.ts';
import { checkSchema, SCHEMA, type TableColumns, tableNames } from '../schema.ts';
import { SQLITE_TABLES } from '../tables.ts';
import { primaryResultCode } from '../write-errors.ts';

/** Statement, and the index of the value of each parameter, or `null` if these are 0, 1, 2 … */
interface Prepared {
  statement: StatementSync;
  order: readonly number[] | null;
}

/** Prepares a statement with the parameters `$1`, `$2` … Replaces them by `?`, because Node 22 cannot bind values to `?1`. */
const prepare = (database: DatabaseSync, sql: string): Prepared => {
  const order: number[] = [];
  const positional = sql.replaceAll(/\$(\d+)/g, (_, position) => {
    order.push(Number(position) - 1);
    return '?';
  });
  const isSorted = order.every((valueIndex, index) => valueIndex === index);
  return { statement: database.prepare(positional), order: isSorted ? null : order };
};

/** Sends statements to SQLite synchronously. Prepares each statement once. */
export const createSendSqlite = (database: DatabaseSync): Send<SqlRow[]> => {
  const prepared = new Map<string, Prepared>();
  const getPrepared = (sql: string): Prepared => {
    const existing = prepared.get(sql);
    if (existing) return existing;
    const created = prepare(database, sql);
    prepared.set(sql, created);
    return created;
  };
  const arrange = ({ order }: Prepared, values: SqlValue[]) =>
    order?.map((index) => values[index]!) ?? values;
  return ({ sql, executions, values, expectedRows, combined }) => {
    const single = getPrepared(sql);
    if (executions === 1 && expectedRows === undefined)
      return single.statement.all(...arrange(single, values));
    const width = values.length / executions;
    const rows: SqlRow[] = [];
    let written = 0;
    for (let done = 0; done < executions; ) {
      const isCombined = combined !== undefined && executions - done >= combined.executions;
      const sent = isCombined ? getPrepared(combined.sql) : single;
      const count = isCombined ? combined.executions : 1;
      const given = arrange(sent, values.slice(done * width, (done + count) * width));
      if (expectedRows === undefined) rows.push(...sent.statement.all(...given));
      else written += Number(sent.statement.run(...given).changes);
      done += count;
    }
    // Only this process writes users, so the row count must match.
    if (expectedRows !== undefined && written !== expectedRows)
      throw new Error(
        `expected ${expectedRows} changed rows, got ${written}: another process may have written the database`,
      );
    return rows;
  };
};

export const createRunSqlite = (database: DatabaseSync): RunSql<SqlRow[]> => {
  const send = createSendSqlite(database);
  return (sql, values) => send({ sql, executions: 1, values });
};

/** Runs `work` in a write transaction. Rolls back if it throws, and throws the same error. */
export const inTransaction = <T>(database: DatabaseSync, work: () => T): T => {
  database.exec('BEGIN IMMEDIATE');
  try {
    const value = work();
    database.exec('COMMIT');
    return value;
  } catch (error) {
    // SQLite rolls back on its own after some errors, such as a full disk.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
};

/** Like `RunTogether`, but synchronous. */
export const createRunTogetherSqlite = (database: DatabaseSync) => {
  const send = createSendSqlite(database);
  return ([first, ...others]: readonly Statement[]): boolean =>
    inTransaction(database, () => {
      const isStored = first !== undefined && send(query(first.sql, ...first.values)).length > 0;
      if (isStored) for (const { sql, values } of others) send(query(sql, ...values));
      return isStored;
    });
};

const readSchemaVersion = (database: DatabaseSync): number | null =>
  Number(database.prepare('PRAGMA user_version').get()?.['user_version']) || null;

const readColumns = (database: DatabaseSync): TableColumns => {
  const columns: TableColumns = new Map();
  for (const table of tableNames('sqlite')) {
    const rows = database.prepare('SELECT name FROM pragma_table_info(?)').all(table);
    if (rows.length > 0) columns.set(table, new Set(rows.map(({ name }) => String(name))));
  }
  return columns;
};

/** Throws if the tables do not match this build. */
const checkTables = (database: DatabaseSync, file: string): void =>
  checkSchema(file, readSchemaVersion(database), 'sqlite', readColumns(database));

/** Creates the tables atomically if the file is empty. Otherwise checks them. */
export const createTables = (database: DatabaseSync, file: string): void =>
  inTransaction(database, () => {
    if (readSchemaVersion(database) === null) {
      const table = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' LIMIT 1").get();
      if (table)
        throw new Error(
          `${file} is not a Placard database: it has a table ${JSON.stringify(table['name'])}; set --db to another file`,
        );
      database.exec(`${SQLITE_TABLES}; PRAGMA user_version = ${SCHEMA}`);
      const { sql, values } = createInsert(FEED_CURSORS)({ consumer: USER_EVENTS.name, ...NEW_CURSOR });
      createSendSqlite(database)(query(sql, ...values));
    }
    checkTables(database, file);
  });

/** Maximum wait for a lock of another connection, in milliseconds. */
export const BUSY_MS = 10_000;

/**
 * Opens a file that a service has created and may be writing. Does not use memory mapping (`mmap_size`), because a growing file
 * is mapped again at every checkpoint, which costs more than copying.
 */
export const openShared = (file: string, { readOnly = false } = {}): DatabaseSync => {
  // SQLite would create the file, or report an error without its name.
  if (!existsSync(file)) throw new Error(`${file} does not exist`);
  const database = new DatabaseSync(file, { readOnly });
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    checkTables(database, file);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
};

/** Offset in the header of a SQLite file of the write version: 2 for write-ahead logging, 1 for a rollback journal. */
const WRITE_VERSION_AT = 18;
const ROLLBACK_JOURNAL = 1;

/**
 * Throws if a file in rollback-journal mode, such as a restored backup, stands beside the write-ahead log of the file that it
 * replaced. SQLite would apply that log to it and corrupt it.
 */
export const assertNoStaleWal = (file: string): void => {
  const log = `${realpathSync(file)}-wal`;
  if (!statSync(log, { throwIfNoEntry: false })?.size) return;
  const header = Buffer.alloc(WRITE_VERSION_AT + 1);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, header, 0, header.length, 0);
  } finally {
    closeSync(descriptor);
  }
  if (header[WRITE_VERSION_AT] !== ROLLBACK_JOURNAL) return;
  throw new Error(
    `${log} is the log of another file than ${file}, which is a copy: remove it and the -shm file`,
  );
};

/** Maximum wait for a service that is shutting down. */
const WAIT_MS = 2_000;

/**
 * Creates the file if missing, readable only by its owner. SQLite would create a file that every user of the machine can read.
 */
const makePrivate = (file: string): void => closeSync(openSync(file, 'a', 0o600));

/** Resolves symbolic links. SQLite keeps the log beside the target of a link, so the lock must be there, too. */
const realFile = (file: string): string => {
  // SQLite reports a missing folder.
  if (!existsSync(dirname(file))) return file;
  // A link to a missing file cannot be resolved. SQLite gives the logs the mode of the file.
  if (!existsSync(file)) makePrivate(file);
  return realpathSync(file);
};

/** Another connection holds the lock. */
const SQLITE_BUSY = 5;

/**
 * Takes the lock with a write, and leaves the transaction open. Without write permission, SQLite takes no lock and reports no
 * error, which only a write detects.
 */
const hold = (lock: DatabaseSync): void => {
  lock.exec(`PRAGMA busy_timeout = ${WAIT_MS}`);
  lock.exec('PRAGMA journal_mode = MEMORY');
  lock.exec('PRAGMA locking_mode = EXCLUSIVE');
  lock.exec('BEGIN EXCLUSIVE');
  lock.exec('PRAGMA user_version = 1');
};

/**
 * Makes this process the only service on a file. Throws if another service holds the lock. The lock is on a small database beside
 * the file, shared by all links to the file. The system releases the lock when the process ends for any reason. Exports do not
 * need the lock.
 */
export const acquireLock = (file: string): (() => void) => {
  const name = `${realFile(file)}-owner`;
  if (existsSync(dirname(name)) && !existsSync(name)) makePrivate(name);
  const lock = new DatabaseSync(name);
  try {
    hold(lock);
  } catch (error) {
    lock.close();
    const problem =
      primaryResultCode(error) === SQLITE_BUSY
        ? `${file} is locked by another Placard process; stop it, or use PostgreSQL for several replicas`
        : `${name}, which keeps other services off the file, cannot be locked: ${getErrorMessage(error)}`;
    throw new Error(problem, { cause: error });
  }
  return () => lock.close();
};
