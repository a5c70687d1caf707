import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type ClientBase, DatabaseError, type Pool, type PoolClient } from 'pg';
import type { BulkStatement } from '../../sql/dialect.ts';
import type { RunTogether, SqlRow } from '../../sql/row-readers.ts';
import { ConflictError, classifyWriteError, InDoubtError, TransientError } from '../write-errors.ts';

/** Maximum wait of a request for a connection. */
const WAIT_MS = 10_000;
const AGAIN_MS = 20;

/**
 * Errors if the server, the database or the role has reached its connection limit, or if the server is starting or shutting down.
 */
const NO_CONNECTION = /^(53300|57P03)/;
/** Errors if the server closes the connection, has failed, or became a standby without closing its connections. */
const ENDINGS = /^(08|25006|25P03|57P|58|XX)/;

/** Whether a connection can be reused. False if the connection was lost or is about to end. */
export const isUsableAfter = (error: unknown): boolean =>
  error instanceof DatabaseError && !ENDINGS.test(error.code ?? '');

/**
 * Takes a connection of a pool. If no connection is idle, the pool opens another. If the server has reached its connection limit,
 * waits for a connection in use.
 */
export const takeConnection = async (pool: Pool): Promise<PoolClient> => {
  const until = performance.now() + WAIT_MS;
  for (;;) {
    try {
      return await pool.connect();
    } catch (error) {
      const isUnavailable = error instanceof DatabaseError && NO_CONNECTION.test(error.code ?? '');
      if (!isUnavailable || pool.totalCount === 0 || performance.now() > until) throw error;
      await pause(AGAIN_MS);
    }
  }
};

/** Source of PostgreSQL's warning when an administrator cancels the wait for a synchronous standby (`syncrep.c`). */
const ROUTINE = 'SyncRepWaitForLSN';

const unreplicated = new WeakSet<ClientBase>();

/** Watches for commits that the server has stored, but perhaps not its synchronous standby. */
export const watchSyncReplication = (client: ClientBase): void => {
  client.on('notice', ({ routine }) => {
    if (routine === ROUTINE) unreplicated.add(client);
  });
};

/**
 * Whether a commit on this connection may be missing on the standby. Stays true, because the affected statement in flight is
 * unknown.
 */
export const isUnacknowledged = (client: ClientBase): boolean => unreplicated.has(client);

type Value = string | number | null | Uint8Array | readonly unknown[];

/**
 * Runs a statement and resolves with its rows. With values, the text must be constant, because the statement is prepared under a
 * name.
 */
export type Run = (text: string, values?: readonly Value[]) => Promise<SqlRow[]>;

const names = new Map<string, string>();

/**
 * Returns the name of a prepared statement. PostgreSQL parses a named statement once per connection. The name derives from the
 * text, because behind a pooler another replica may have prepared the statement.
 */
const preparedName = (text: string): string => {
  const known = names.get(text);
  if (known) return known;
  const name = `placard_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
  names.set(text, name);
  return name;
};

export const createClientRun =
  (client: ClientBase): Run =>
  async (text, values) => {
    const statement = values ? { name: preparedName(text), text, values: [...values] } : { text };
    const result = await client.query(statement);
    // If several statements are sent as one text, the last result counts.
    const { rows } = Array.isArray(result) ? result.at(-1) : result;
    if (isUnacknowledged(client)) throw new InDoubtError('A standby has not confirmed what was stored');
    return rows;
  };

/** Sends statements with `run`, either pipelined in order over one connection, or over any idle connection. */
export const createSend =
  (run: Run) =>
  async ({ sql, executions, values, expectedRows }: BulkStatement): Promise<SqlRow[]> => {
    const rows = executions === 0 ? [] : await run(sql, values);
    if (expectedRows === undefined || expectedRows === rows.length) return rows;
    throw new ConflictError('Another replica has written the same users');
  };

/** Runs each statement on any idle connection. */
export const createPoolRun =
  (pool: Pool): Run =>
  async (text, values) => {
    const client = await takeConnection(pool);
    let isUsable = true;
    try {
      return await createClientRun(client)(text, values);
    } catch (error) {
      isUsable = isUsableAfter(error);
      throw error;
    } finally {
      client.release(!isUsable);
    }
  };

/** Converts an error of COMMIT. Without a response the outcome is unknown. A rejected COMMIT has stored nothing. */
const toCommitError = (error: unknown): unknown =>
  error instanceof DatabaseError && classifyWriteError(error) !== 'unknown'
    ? error
    : new InDoubtError('No response from the database: outcome unknown', { cause: error });

/**
 * Runs a transaction and resolves after the commit. `work` must await all statements that it sends. It receives the rows of the
 * last statement of `begin`.
 */
export const inTransaction = async <T>(
  pool: Pool,
  work: (run: Run, begun: SqlRow[]) => Promise<T>,
  begin = 'BEGIN',
): Promise<T> => {
  const client = await takeConnection(pool);
  const runOnClient = createClientRun(client);
  let isUsable = true;
  let isCommitting = false;
  const run: Run = async (text, values) => {
    try {
      return await runOnClient(text, values);
    } catch (error) {
      isUsable &&= isUsableAfter(error);
      throw error;
    }
  };
  try {
    // If `begin` failed, later statements would be committed one by one.
    const begun = await run(begin);
    const value = await work(run, begun);
    isCommitting = true;
    await run('COMMIT');
    return value;
  } catch (error) {
    // A transaction that cannot be rolled back keeps its locks until the connection ends.
    if (isUsable) await run('ROLLBACK').catch(() => undefined);
    throw isCommitting ? toCommitError(error) : error;
  } finally {
    client.release(!isUsable);
  }
};

const MAX_ATTEMPTS = 12;
/** Maximum number of lock timeouts before a transaction is rejected. */
const MAX_WAITS = 2;
const BASE_DELAY_MS = 2;

/** Retries a transaction after conflicts. Rejects and stores nothing if conflicts persist, or after two lock timeouts. */
export const retryConflicts = async <T>(transact: (attempt: number) => Promise<T>): Promise<T> => {
  let waits = 0;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transact(attempt);
    } catch (error) {
      const errorClass = classifyWriteError(error);
      if (errorClass !== 'retry' && errorClass !== 'transient') throw error;
      if (errorClass === 'transient') waits += 1;
      if (attempt >= MAX_ATTEMPTS || waits >= MAX_WAITS) {
        throw new TransientError('Other writes come first', { cause: error });
      }
      await pause(Math.random() * BASE_DELAY_MS * 2 ** Math.min(attempt, 6));
    }
  }
};

export const createRunTogether =
  (pool: Pool): RunTogether =>
  ([first, ...others]) =>
    inTransaction(pool, async (run) => {
      const isStored = first !== undefined && (await run(first.sql, first.values)).length > 0;
      if (isStored) for (const { sql, values } of others) await run(sql, values);
      return isStored;
    });
