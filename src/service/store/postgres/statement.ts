import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type ClientBase, DatabaseError, type Pool, type PoolClient } from 'pg';
import type { RunTogether, SqlRow } from '../../operators/index.ts';
import type { BulkStatement } from '../../sql/dialect.ts';
import { ConflictError, classifyWriteError, InDoubtError, TransientError } from '../write-errors.ts';

/** How long a request waits for a connection of others, and how often it asks. */
const WAIT_MS = 10_000;
const AGAIN_MS = 20;

/** No room for one more: of the server, the database or the role; or it is just starting or ending. */
const NO_ROOM = /^(53300|57P03)/;
/** The server ends the connection, or it is in trouble, or it became a copy of another one and kept its connections. */
const ENDINGS = /^(08|25006|25P03|57P|58|XX)/;

/** False where a connection is of no more use, as after anything that is no answer of the database. */
export const isUsableAfter = (error: unknown): boolean =>
  error instanceof DatabaseError && !ENDINGS.test(error.code ?? '');

/**
 * Takes a connection of a pool. Where none is idle the pool opens one more; where the server has no room for it, there
 * are others, which come free.
 */
export const takeConnection = async (pool: Pool): Promise<PoolClient> => {
  const until = performance.now() + WAIT_MS;
  for (;;) {
    try {
      return await pool.connect();
    } catch (error) {
      const isNoRoom = error instanceof DatabaseError && NO_ROOM.test(error.code ?? '');
      if (!isNoRoom || pool.totalCount === 0 || performance.now() > until) throw error;
      await pause(AGAIN_MS);
    }
  }
};

/** Where PostgreSQL's warning comes from when an administrator ends the wait for a synchronous standby (`syncrep.c`). */
const ROUTINE = 'SyncRepWaitForLSN';

const unreplicated = new WeakSet<ClientBase>();

/** Listens for commits that are stored here, and perhaps not on the standby that was to have them before the answer. */
export const watchSyncReplication = (client: ClientBase): void => {
  client.on('notice', ({ routine }) => {
    if (routine === ROUTINE) unreplicated.add(client);
  });
};

/** True from then on: it cannot be told which of the statements under way it was. */
export const isUnacknowledged = (client: ClientBase): boolean => unreplicated.has(client);

type Value = string | number | null | Uint8Array | readonly string[] | readonly number[];

/** Runs a statement and resolves with its rows. With values it must be of a constant text: it is prepared under a name. */
export type Run = (text: string, values?: readonly Value[]) => Promise<SqlRow[]>;

const names = new Map<string, string>();

/**
 * What a connection has prepared under a name it need not read again. The name says what the text is: behind a pooler
 * another replica may have prepared it.
 */
const preparedName = (text: string): string => {
  const known = names.get(text);
  if (known) return known;
  const name = `placard_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
  names.set(text, name);
  return name;
};

/** Runs statements on one connection. */
export const runOn =
  (client: ClientBase): Run =>
  async (text, values) => {
    const statement = values ? { name: preparedName(text), text, values: [...values] } : { text };
    const answer = await client.query(statement);
    // Of several statements that are sent as one text the last one answers.
    const { rows } = Array.isArray(answer) ? answer.at(-1) : answer;
    if (isUnacknowledged(client)) throw new InDoubtError('A standby has not confirmed what was stored');
    return rows;
  };

/** Sends batches by `run`: over one connection in their order, each before the one before has its answer, or over any that is free. */
export const sendOver =
  (run: Run) =>
  async ({ sql, times, values, expects }: BulkStatement): Promise<SqlRow[]> => {
    const rows = times === 0 ? [] : await run(sql, values);
    if (expects === undefined || expects === rows.length) return rows;
    throw new ConflictError('Another replica has written the same users');
  };

/** Runs each statement on any connection that is free. */
export const runIn =
  (pool: Pool): Run =>
  async (text, values) => {
    const client = await takeConnection(pool);
    let isUsable = true;
    try {
      return await runOn(client)(text, values);
    } catch (error) {
      isUsable = isUsableAfter(error);
      throw error;
    } finally {
      client.release(!isUsable);
    }
  };

/** Without an answer to COMMIT it is not known what is stored. A COMMIT that the server refused has stored nothing. */
const orInDoubt = (error: unknown): unknown =>
  error instanceof DatabaseError && classifyWriteError(error) !== 'unknown'
    ? error
    : new InDoubtError('The database did not answer: what it stored is not known', { cause: error });

/**
 * Runs a transaction, and resolves once it is committed. `work` has waited for all that it has sent; it receives what the last
 * statement of `begin` answered.
 */
export const inTransaction = async <T>(
  pool: Pool,
  work: (run: Run, begun: SqlRow[]) => Promise<T>,
  begin = 'BEGIN',
): Promise<T> => {
  const client = await takeConnection(pool);
  const runHere = runOn(client);
  let isUsable = true;
  let isCommitting = false;
  const run: Run = async (text, values) => {
    try {
      return await runHere(text, values);
    } catch (error) {
      isUsable &&= isUsableAfter(error);
      throw error;
    }
  };
  try {
    // Where it is refused, what follows would be committed statement by statement.
    const begun = await run(begin);
    const value = await work(run, begun);
    isCommitting = true;
    await run('COMMIT');
    return value;
  } catch (error) {
    // A transaction that cannot be ended keeps its locks until the connection ends.
    if (isUsable) await run('ROLLBACK').catch(() => undefined);
    throw isCommitting ? orInDoubt(error) : error;
  } finally {
    client.release(!isUsable);
  }
};

const MAX_ATTEMPTS = 12;
/** For what others have locked. */
const MAX_WAITS = 2;
const BASE_DELAY_MS = 2;

/**
 * Runs a transaction again while others are in its way; where they always are, or where it has waited twice for what they
 * have locked, nothing of it is stored.
 */
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

/** Runs the statements in one transaction. Returns false and stores nothing if the first returns no row. */
export const runTogetherIn =
  (pool: Pool): RunTogether =>
  ([first, ...others]) =>
    inTransaction(pool, async (run) => {
      const isStored = first !== undefined && (await run(first.sql, first.values)).length > 0;
      if (isStored) for (const { sql, values } of others) await run(sql, values);
      return isStored;
    });
